-- Conditions, procedures, drug exposures and notes of OMOP in one form
-- Grain: one row per record; concepts are 0 where it has none
-- Inputs: omop.condition_occurrence, procedure_occurrence, drug_exposure, note, visit_occurrence
-- Output: omop.record, a view; for sql/ehr/sources/by_time.sql the records of no visit, timeless, and the visits, stay
-- Caveat: where a site has only dates, a visit ends at the end of its last day
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html
create or replace view omop.record as
select
    'diagnosis' as kind,
    condition_occurrence_id as id,
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(condition_source_concept_id, 0) as source_concept_id,
    coalesce(condition_concept_id, 0) as concept_id,
    condition_source_value as source_value,
    coalesce(condition_start_datetime, condition_start_date) as time,
    'condition_occurrence' as source_table
from omop.condition_occurrence
union all
select
    'procedure' as kind,
    procedure_occurrence_id as id,
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(procedure_source_concept_id, 0) as source_concept_id,
    coalesce(procedure_concept_id, 0) as concept_id,
    procedure_source_value as source_value,
    coalesce(procedure_datetime, procedure_date) as time,
    'procedure_occurrence' as source_table
from omop.procedure_occurrence
union all
select
    'drug' as kind,
    drug_exposure_id as id,
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(drug_source_concept_id, 0) as source_concept_id,
    coalesce(drug_concept_id, 0) as concept_id,
    drug_source_value as source_value,
    coalesce(drug_exposure_start_datetime, drug_exposure_start_date) as time,
    'drug_exposure' as source_table
from omop.drug_exposure
union all
select
    'note' as kind,
    note_id as id,
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    0 as source_concept_id,
    0 as concept_id,
    null as source_value,
    coalesce(note_datetime, note_date) as time,
    'note' as source_table
from omop.note;

create or replace temp view timeless as
select
    source_table,
    id,
    subject_id,
    hadm_id,
    time
from omop.record
where hadm_id is null;

create or replace temp view stay as
select
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(visit_start_datetime, visit_start_date) as admittime,
    coalesce(visit_end_datetime, visit_end_date + interval '1 day' - interval '1 second') as dischtime
from omop.visit_occurrence;
