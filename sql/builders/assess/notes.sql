-- A warehouse of a few notes that are no records: patients and admissions of their own, no codes, no reports
-- Grain: none: empty tables as the steps of MediEval read them. Inputs: none
-- Output: ehr.patient, ehr.admission, ehr.note, ehr.discharge_note, ehr.radiology_note, ground.section, ground.segment,
--   ground.mention, ground.unclear_mention, ground.admission_concept, and the schemas kg and records
create schema ehr;
create schema ground;
create schema kg;
create schema records;
create table ehr.patient (subject_id bigint, split varchar);
create table ehr.admission (hadm_id bigint, subject_id bigint);
create table ehr.note (
    note_id varchar, hadm_id bigint, text varchar, subject_id bigint as (hadm_id), seq_num bigint as (0),
    kind varchar as ('discharge')
);
create view ehr.discharge_note as from ehr.note;
create view ehr.radiology_note as
from ehr.note
where false;
create table ground.section (
    note_id varchar, hadm_id bigint, section varchar, header varchar, begin_offset integer, end_offset integer
);
create table ground.segment (
    note_id varchar, kind varchar, begin_offset integer, end_offset integer, block integer
);
create table ground.mention (
    note_id varchar, hadm_id bigint, begin_offset integer, end_offset integer, text varchar, cuis varchar[],
    assertion varchar, section varchar, certainty varchar, reasons varchar[]
);
create table ground.unclear_mention (
    note_id varchar, hadm_id bigint, begin_offset integer, end_offset integer, text varchar, cuis varchar[],
    reason varchar, section varchar
);
create table ground.admission_concept (hadm_id bigint, cui varchar, kind varchar, source_table varchar);
