-- Coverage by event volume: rows of each source table that have a concept
-- Grain: one row per source table; prescriptions count as mapped by NDC or by name
-- Inputs: ground.code_map, mimiciv_hosp.diagnoses_icd, procedures_icd, prescriptions
with mapped as (
    select distinct
        source,
        code,
        code_version
    from ground.code_map
),

event as (
    select
        'diagnoses_icd' as source_table,
        m.code is not null as is_mapped
    from mimiciv_hosp.diagnoses_icd as d
    left join mapped as m on m.source = 'diagnoses_icd' and d.icd_code = m.code and d.icd_version = m.code_version
    union all
    select
        'procedures_icd' as source_table,
        m.code is not null as is_mapped
    from mimiciv_hosp.procedures_icd as p
    left join mapped as m on m.source = 'procedures_icd' and p.icd_code = m.code and p.icd_version = m.code_version
    union all
    select
        'prescriptions' as source_table,
        n.code is not null or m.code is not null as is_mapped
    from mimiciv_hosp.prescriptions as p
    left join mapped as n on n.source = 'prescriptions_ndc' and p.ndc = n.code
    left join mapped as m on m.source = 'prescriptions_drug' and p.drug = m.code
)

select
    source_table,
    count(*) as n_rows,
    count(*) filter (where is_mapped) as mapped_rows,
    round(mapped_rows / n_rows, 4) as share
from event
group by source_table
order by source_table;
