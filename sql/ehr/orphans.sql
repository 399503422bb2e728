-- Rows of one table whose admission is not in admissions
-- Grain: one row, the number of rows with a hadm_id that mimiciv_hosp.admissions lacks
-- Inputs: the table named by the variable load_table (schema.table), mimiciv_hosp.admissions. Output: the count
-- Source: FACTS, MIMIC-IV: hosp and note have releases of their own, so orphans are counted
select count(*) as n
from query_table(getvariable('load_table')) as t
where t.hadm_id is not null and not exists (
    select 1 from mimiciv_hosp.admissions as a
    where a.hadm_id = t.hadm_id
)
