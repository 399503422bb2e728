-- Diagnoses and procedures of admissions that no code of the admission leads to, and codes that lead nowhere
-- Grain: one row per (hadm_id, cui, kind) that only one of the two sides has
-- Inputs: ground.admission_concept, ground.code_map, mimiciv_hosp.diagnoses_icd, procedures_icd
with expected as (
    select
        d.hadm_id,
        m.cui,
        'diagnosis' as kind
    from mimiciv_hosp.diagnoses_icd as d
    inner join ground.code_map as m
        on m.source = 'diagnoses_icd' and d.icd_code = m.code and d.icd_version = m.code_version
    union
    select
        p.hadm_id,
        m.cui,
        'procedure' as kind
    from mimiciv_hosp.procedures_icd as p
    inner join ground.code_map as m
        on m.source = 'procedures_icd' and p.icd_code = m.code and p.icd_version = m.code_version
),

found as (
    select
        hadm_id,
        cui,
        kind
    from ground.admission_concept
    where kind in ('diagnosis', 'procedure')
),

surplus as (
    select * from found
    except
    select * from expected
),

lacking as (
    select * from expected
    except
    select * from found
)

select
    *,
    'no code' as what
from surplus
union all
select
    *,
    'not listed' as what
from lacking
order by hadm_id, kind, cui;
