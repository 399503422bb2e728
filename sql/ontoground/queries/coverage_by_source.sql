-- Coverage by source: distinct codes that have a concept
-- Grain: one row per source and code version
-- Inputs: ground.code_map, mimiciv_hosp.diagnoses_icd, procedures_icd, prescriptions
with used as (
    select distinct
        'diagnoses_icd' as source,
        icd_code as code,
        icd_version as code_version
    from mimiciv_hosp.diagnoses_icd
    union all
    select distinct
        'procedures_icd' as source,
        icd_code as code,
        icd_version as code_version
    from mimiciv_hosp.procedures_icd
    union all
    select distinct
        'prescriptions_ndc' as source,
        ndc as code,
        null as code_version
    from mimiciv_hosp.prescriptions
    union all
    select distinct
        'prescriptions_drug' as source,
        drug as code,
        null as code_version
    from mimiciv_hosp.prescriptions
),

mapped as (
    select distinct
        source,
        code,
        code_version
    from ground.code_map
)

select
    u.source,
    u.code_version,
    count(*) as codes,
    count(m.code) as mapped_codes,
    round(count(m.code) / count(*), 4) as share
from used as u
left join mapped as m
    on u.source = m.source and u.code = m.code and u.code_version is not distinct from m.code_version
where trim(u.code) not in ('', '0')
group by u.source, u.code_version
order by u.source, u.code_version;
