-- Rows of the records whose admission is not among the admissions
-- Grain: one row per table of the records. Inputs: ehr.event, ehr.admission. Output: source_table, n
-- Source: PhysioNet: MIMIC-IV and MIMIC-IV-Note have releases of their own, so orphans are counted
select
    event.source_table,
    count(*) as n
from ehr.event as event
anti join ehr.admission as admission on event.hadm_id = admission.hadm_id
where event.hadm_id is not null
group by event.source_table
order by event.source_table
