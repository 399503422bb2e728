-- Visits of OMOP as admissions, those to a clinic too
-- Grain: one row per visit_occurrence. Output: the view ehr.admission (ehr/data/contract.tsv)
-- Inputs: visit_occurrence. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#visit_occurrence
-- Caveat: where a site has only dates, a visit ends at the end of its last day
select
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(visit_start_datetime, visit_start_date) as admittime,
    coalesce(visit_end_datetime, visit_end_date + interval '1 day' - interval '1 second') as dischtime
from visit_occurrence
