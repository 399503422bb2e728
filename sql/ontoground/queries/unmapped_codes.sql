-- Top unmapped codes with their titles
-- Grain: one row per (source, code, code_version) that has no concept, most used first; an NDC shows the drug's name
-- Inputs: ground.code_map, mimiciv_hosp.diagnoses_icd, procedures_icd, prescriptions, d_icd_diagnoses,
--   d_icd_procedures
with used as (
    select
        'diagnoses_icd' as source,
        d.icd_code as code,
        d.icd_version as code_version,
        any_value(t.long_title order by t.long_title) as title,
        count(*) as n_rows
    from mimiciv_hosp.diagnoses_icd as d
    left join mimiciv_hosp.d_icd_diagnoses as t on d.icd_code = t.icd_code and d.icd_version = t.icd_version
    group by d.icd_code, d.icd_version
    union all
    select
        'procedures_icd' as source,
        p.icd_code as code,
        p.icd_version as code_version,
        any_value(t.long_title order by t.long_title) as title,
        count(*) as n_rows
    from mimiciv_hosp.procedures_icd as p
    left join mimiciv_hosp.d_icd_procedures as t on p.icd_code = t.icd_code and p.icd_version = t.icd_version
    group by p.icd_code, p.icd_version
    union all
    select
        'prescriptions_ndc' as source,
        ndc as code,
        null as code_version,
        min(drug) as title,
        count(*) as n_rows
    from mimiciv_hosp.prescriptions
    where trim(ndc) not in ('', '0')
    group by ndc
    union all
    select
        'prescriptions_drug' as source,
        drug as code,
        null as code_version,
        drug as title,
        count(*) as n_rows
    from mimiciv_hosp.prescriptions
    where trim(drug) <> ''
    group by drug
)

select u.*
from used as u
anti join ground.code_map as m
    on u.source = m.source and u.code = m.code and u.code_version is not distinct from m.code_version
order by u.n_rows desc, u.source asc, u.code asc, u.code_version asc;
