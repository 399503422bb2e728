-- Conditions, procedures and drug exposures of OMOP in one form
-- Grain: one row per record; concepts are 0 where it has none
-- Inputs: omop.condition_occurrence, procedure_occurrence, drug_exposure. Output: omop.record, a view
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html
create or replace view omop.record as
select
    'diagnosis' as kind,
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(condition_source_concept_id, 0) as source_concept_id,
    coalesce(condition_concept_id, 0) as concept_id,
    condition_source_value as source_value,
    coalesce(condition_start_datetime, condition_start_date) as time,
    null::timestamp as stop,
    'condition_occurrence' as source_table
from omop.condition_occurrence
union all
select
    'procedure' as kind,
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(procedure_source_concept_id, 0) as source_concept_id,
    coalesce(procedure_concept_id, 0) as concept_id,
    procedure_source_value as source_value,
    coalesce(procedure_datetime, procedure_date) as time,
    null as stop,
    'procedure_occurrence' as source_table
from omop.procedure_occurrence
union all
select
    'drug' as kind,
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(drug_source_concept_id, 0) as source_concept_id,
    coalesce(drug_concept_id, 0) as concept_id,
    drug_source_value as source_value,
    coalesce(drug_exposure_start_datetime, drug_exposure_start_date) as time,
    coalesce(drug_exposure_end_datetime, drug_exposure_end_date) as stop,
    'drug_exposure' as source_table
from omop.drug_exposure;
