-- Conditions, procedures, drug exposures and notes of OMOP in one form
-- Grain: one row per record; concepts are 0 where it has none
-- Inputs: omop.condition_occurrence, procedure_occurrence, drug_exposure, note
-- Output: omop.record, a view; for sql/ehr/sources/by_time.sql the records of no visit, timeless
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html

-- noqa: disable=LT02
create or replace macro omop.records_of(kind, name, id, source_concept, concept, written, moment, day) as table
select
    kind as kind,
    id as id,
    person_id as subject_id,
    visit_occurrence_id as hadm_id,
    coalesce(source_concept, 0) as source_concept_id,
    coalesce(concept, 0) as concept_id,
    written as source_value,
    coalesce(moment, day) as time,
    name as source_table
from query_table('omop.' || name);

create or replace view omop.record as
from omop.records_of(
    'diagnosis', 'condition_occurrence', condition_occurrence_id, condition_source_concept_id, condition_concept_id,
    condition_source_value, condition_start_datetime, condition_start_date
)
union all
from omop.records_of(
    'procedure', 'procedure_occurrence', procedure_occurrence_id, procedure_source_concept_id, procedure_concept_id,
    procedure_source_value, procedure_datetime, procedure_date
)
union all
from omop.records_of(
    'drug', 'drug_exposure', drug_exposure_id, drug_source_concept_id, drug_concept_id, drug_source_value,
    drug_exposure_start_datetime, drug_exposure_start_date
)
union all
from omop.records_of('note', 'note', note_id, 0, 0, null, note_datetime, note_date);

create or replace temp view timeless as
select
    source_table,
    id,
    subject_id,
    hadm_id,
    time
from omop.record
where hadm_id is null;
