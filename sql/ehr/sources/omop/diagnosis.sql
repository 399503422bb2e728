-- Conditions of OMOP, each with one code (sql/ehr/omop/code.sql), else the record's own text
-- Grain: one row per condition_occurrence. Output: the view ehr.diagnosis (ehr/data/contract.tsv)
-- Inputs: condition_occurrence, code. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#condition_occurrence
-- Caveat: OMOP's concept 0 has the vocabulary None
select
    condition_occurrence.person_id as subject_id,
    condition_occurrence.visit_occurrence_id as hadm_id,
    null as seq_num,
    coalesce(code.vocabulary, 'None') as vocabulary,
    coalesce(code.code, condition_occurrence.condition_source_value) as code,
    coalesce(condition_occurrence.condition_start_datetime, condition_occurrence.condition_start_date) as time,
    'condition_occurrence' as source_table
from condition_occurrence
left join code
    on
        coalesce(condition_occurrence.condition_source_concept_id, 0) = code.source_concept_id
        and coalesce(condition_occurrence.condition_concept_id, 0) = code.concept_id
