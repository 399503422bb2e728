-- Visits of OMOP as admissions, those to a clinic's door too
-- Grain: one row per visit_occurrence
-- Inputs: omop.visit_occurrence
-- Output: view ehr.admission
-- Caveat: where a site has only dates, a visit ends at the end of its last day
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#visit_occurrence
create or replace view ehr.admission as
select
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(visit_start_datetime, visit_start_date) as admittime,
    coalesce(visit_end_datetime, visit_end_date + interval '1 day' - interval '1 second') as dischtime
from omop.visit_occurrence;
