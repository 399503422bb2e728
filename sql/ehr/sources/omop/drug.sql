-- Drug exposures of OMOP, each with one code and its name
-- Grain: one row per drug_exposure
-- Inputs: omop.event
-- Output: view ehr.drug; name is the concept's, or the record's own text where it has no concept
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#drug_exposure
create or replace view ehr.drug as
select
    subject_id,
    hadm_id,
    vocabulary,
    code,
    name,
    time,
    stop,
    source_table
from omop.event
where source_table = 'drug_exposure';
