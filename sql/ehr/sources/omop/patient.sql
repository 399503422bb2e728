-- Patients of OMOP
-- Grain: one row per person
-- Inputs: omop.person
-- Output: view ehr.patient
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#person
create or replace view ehr.patient as
select
    person_id as subject_id,
    null::varchar as split
from omop.person;
