-- Rows of one table whose admission is not in admissions
-- Grain: one row, the number of rows with a hadm_id that mimiciv_hosp.admissions lacks
-- Inputs: the table named by the variable load_table (schema.table), mimiciv_hosp.admissions. Output: the count
-- Rows are counted by admission first: a correlated "not exists" would hold every column of the table in memory
-- Source: PhysioNet: MIMIC-IV and MIMIC-IV-Note have releases of their own, so orphans are counted
with used as (
    select
        hadm_id,
        count(*) as n
    from query_table(getvariable('load_table'))
    where hadm_id is not null
    group by hadm_id
)

select coalesce(sum(used.n), 0)::bigint as n
from used
anti join mimiciv_hosp.admissions as a on used.hadm_id = a.hadm_id
