-- Concepts of admissions that are not in the records
-- Grain: one row per unknown admission and source table
-- Inputs: ground.admission_concept, mimiciv_hosp.admissions
select
    c.hadm_id,
    c.source_table,
    count(*) as n
from ground.admission_concept as c
anti join mimiciv_hosp.admissions as a on c.hadm_id = a.hadm_id
group by c.hadm_id, c.source_table
order by c.hadm_id, c.source_table;
