-- Patients of a MEDS dataset, each with its split, and its codes
-- Grain: one row per patient of the data: meds.subject(subject_id, split), split as the dataset calls it; one row per
--   code: meds.code
-- Inputs: meds_row, meds_split, meds_code
-- Source: MEDS 0.4, subject_splits.parquet
create schema if not exists meds;

create or replace table meds.code as
select *
from meds_code
order by code;

create or replace table meds.subject as
select
    subject.subject_id,
    meds_split.split
from (
    -- one row if MEDS' rule holds that no patient is in two files
    select distinct
        filename,
        subject_id
    from meds_row
    where subject_id is not null
) as subject
left join meds_split on subject.subject_id = meds_split.subject_id
order by subject.subject_id;
