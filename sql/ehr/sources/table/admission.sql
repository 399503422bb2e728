-- Admissions of a plain table: from its first to its last time, where it has any
-- Grain: one row per admission. Output: the view ehr.admission (ehr/data/contract.tsv)
-- Inputs: notes, codes. Source: docs/sources.md
select
    min(ehr.identifier(patient)) as subject_id,
    ehr.stay(patient, admission) as hadm_id,
    min(time) as admittime,
    max(time) as dischtime
from (
    select * from notes
    union all by name
    select * from codes
) as dated
where coalesce(patient, admission) is not null
group by hadm_id
