-- Coverage by method: rows of the records that reach a concept in each way
-- Grain: one row per source, code version and method; method none: no concept
-- Inputs: ground.code_map, mimiciv_hosp.diagnoses_icd, procedures_icd, prescriptions
with used as (
    select
        'diagnoses_icd' as source,
        icd_code as code,
        icd_version as code_version,
        count(*) as n_rows
    from mimiciv_hosp.diagnoses_icd
    group by all
    union all
    select
        'procedures_icd' as source,
        icd_code as code,
        icd_version as code_version,
        count(*) as n_rows
    from mimiciv_hosp.procedures_icd
    group by all
    union all
    select
        'prescriptions_ndc' as source,
        ndc as code,
        null as code_version,
        count(*) as n_rows
    from mimiciv_hosp.prescriptions
    group by all
    union all
    select
        'prescriptions_drug' as source,
        drug as code,
        null as code_version,
        count(*) as n_rows
    from mimiciv_hosp.prescriptions
    group by all
),

mapped as (
    select distinct
        source,
        code,
        code_version,
        method
    from ground.code_map
)

select
    u.source,
    u.code_version,
    coalesce(m.method, 'none') as method,
    count(*) as codes,
    sum(u.n_rows)::bigint as n_rows,
    round(sum(u.n_rows) / sum(sum(u.n_rows)) over (partition by u.source, u.code_version), 4) as share_of_rows
from used as u
left join mapped as m
    on u.source = m.source and u.code = m.code and u.code_version is not distinct from m.code_version
group by u.source, u.code_version, m.method
order by u.source asc, u.code_version asc, n_rows desc, method asc;
