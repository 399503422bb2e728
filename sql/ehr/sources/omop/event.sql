-- Conditions, procedures and drugs of OMOP, each with one code: the source concept's where UMLS has its vocabulary,
--   else the standard concept's, else what the record has
-- Grain: one row per condition_occurrence, procedure_occurrence or drug_exposure
-- Inputs: omop.condition_occurrence, omop.procedure_occurrence, omop.drug_exposure, omop.coded
-- Output: view omop.event(source_table, subject_id, hadm_id, vocabulary, code, name, time, stop). A source value without
--   a concept has the vocabulary None, as concept 0 has. The standard concept's code is kept in ehr.code_step, so that
--   a source code that UMLS lacks is mapped through it
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html (source values, source concepts and standard concepts)
create or replace view omop.event as
with occurrence as (
    select
        'condition_occurrence' as source_table,
        person_id as subject_id,
        visit_occurrence_id as hadm_id,
        condition_concept_id as concept_id,
        condition_source_concept_id as source_concept_id,
        condition_source_value as source_value,
        coalesce(condition_start_datetime, condition_start_date) as time,
        coalesce(condition_end_datetime, condition_end_date) as stop
    from omop.condition_occurrence
    union all
    select
        'procedure_occurrence' as source_table,
        person_id as subject_id,
        visit_occurrence_id as hadm_id,
        procedure_concept_id as concept_id,
        procedure_source_concept_id as source_concept_id,
        procedure_source_value as source_value,
        coalesce(procedure_datetime, procedure_date) as time,
        null as stop
    from omop.procedure_occurrence
    union all
    select
        'drug_exposure' as source_table,
        person_id as subject_id,
        visit_occurrence_id as hadm_id,
        drug_concept_id as concept_id,
        drug_source_concept_id as source_concept_id,
        drug_source_value as source_value,
        coalesce(drug_exposure_start_datetime, drug_exposure_start_date) as time,
        coalesce(drug_exposure_end_datetime, drug_exposure_end_date) as stop
    from omop.drug_exposure
)

select
    occurrence.source_table,
    occurrence.subject_id,
    occurrence.hadm_id,
    -- Of two concepts in vocabularies that UMLS lacks the source's is shown as unmapped.
    case
        when source.is_known then source.vocabulary
        when standard.is_known then standard.vocabulary
        else coalesce(source.vocabulary, standard.vocabulary, 'None')
    end as vocabulary,
    case
        when source.is_known then source.code
        when standard.is_known then standard.code
        else coalesce(source.code, standard.code, occurrence.source_value)
    end as code,
    coalesce(source.name, standard.name, occurrence.source_value) as name,
    occurrence.time,
    occurrence.stop
from occurrence
left join omop.coded as source on occurrence.source_concept_id = source.concept_id
left join omop.coded as standard on occurrence.concept_id = standard.concept_id;
