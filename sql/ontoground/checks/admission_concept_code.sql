-- Diagnoses and procedures of admissions that no code of the admission leads to, and codes that lead nowhere
-- Grain: one row per (hadm_id, cui, kind) that only one of the two sides has
-- Inputs: ground.admission_concept, ground.code_map, ehr.diagnosis, ehr.procedure
with expected as (
    select
        d.hadm_id,
        m.cui,
        'diagnosis' as kind
    from ehr.diagnosis as d
    inner join ground.code_map as m on d.source_table = m.source and d.vocabulary = m.vocabulary and d.code = m.code
    where d.hadm_id is not null
    union
    select
        p.hadm_id,
        m.cui,
        'procedure' as kind
    from ehr.procedure as p
    inner join ground.code_map as m on p.source_table = m.source and p.vocabulary = m.vocabulary and p.code = m.code
    where p.hadm_id is not null
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
