-- Procedures of OMOP, each with one code (sql/ehr/omop/code.sql), else the record's own text
-- Grain: one row per procedure_occurrence. Output: the view ehr.procedure (ehr/data/contract.tsv)
-- Inputs: procedure_occurrence, code. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#procedure_occurrence
-- Caveat: OMOP's concept 0 has the vocabulary None
select
    procedure_occurrence.person_id as subject_id,
    procedure_occurrence.visit_occurrence_id as hadm_id,
    null as seq_num,
    coalesce(code.vocabulary, 'None') as vocabulary,
    coalesce(code.code, procedure_occurrence.procedure_source_value) as code,
    coalesce(procedure_occurrence.procedure_datetime, procedure_occurrence.procedure_date) as time,
    'procedure_occurrence' as source_table
from procedure_occurrence
left join code
    on
        coalesce(procedure_occurrence.procedure_source_concept_id, 0) = code.source_concept_id
        and coalesce(procedure_occurrence.procedure_concept_id, 0) = code.concept_id
