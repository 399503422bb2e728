-- Patients of a MEDS dataset, each with its split, and its codes
-- Grain: one row per patient of the data: meds.patient(subject_id, split, source_split), the split under our name and
--   as the dataset calls it; one row per code: meds.code
-- Inputs: meds_row, meds_split, meds_code
-- Source: MEDS 0.4, subject_splits.parquet
create schema if not exists meds;

create or replace table meds.code as
select *
from meds_code
order by code;

create or replace table meds.patient as
select
    patient.subject_id,
    case
        when lower(meds_split.split) in ('train', 'validation', 'test') then lower(meds_split.split)
        when lower(meds_split.split) = 'tuning' then 'validation'
        when lower(meds_split.split) = 'held_out' then 'test'
    end as split,
    meds_split.split as source_split
from (
    -- one row if MEDS' rule holds that no patient is in two files
    select distinct
        filename,
        subject_id
    from meds_row
    where subject_id is not null
) as patient
left join meds_split on patient.subject_id = meds_split.subject_id
order by patient.subject_id;
