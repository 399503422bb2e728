-- Concepts of admissions that are not in the records
-- Grain: one row per unknown admission and source table
-- Inputs: ground.admission_concept, ehr.admission
select
    c.hadm_id,
    c.source_table,
    count(*) as n
from ground.admission_concept as c
anti join ehr.admission as a on c.hadm_id = a.hadm_id
group by c.hadm_id, c.source_table
order by c.hadm_id, c.source_table;
