-- Conditions of OMOP, each with one code
-- Grain: one row per condition_occurrence
-- Inputs: omop.event
-- Output: view ehr.diagnosis; seq_num is null, OMOP has no order
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#condition_occurrence
create or replace view ehr.diagnosis as
select
    subject_id,
    hadm_id,
    null::integer as seq_num,
    vocabulary,
    code,
    time,
    source_table
from omop.event
where source_table = 'condition_occurrence';
