-- Procedures of OMOP, each with one code
-- Grain: one row per procedure_occurrence
-- Inputs: omop.event
-- Output: view ehr.procedure; seq_num is null, OMOP has no order
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#procedure_occurrence
create or replace view ehr.procedure as
select
    subject_id,
    hadm_id,
    null::integer as seq_num,
    vocabulary,
    code,
    time,
    source_table
from omop.event
where source_table = 'procedure_occurrence';
