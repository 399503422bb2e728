-- Patients of a MEDS dataset, each with its split
-- Grain: one row per patient of the data. Output: meds.subject(subject_id, split); split as the dataset calls it
-- Inputs: meds_row, meds_split
-- Source: MEDS 0.4, subject_splits.parquet
create or replace table meds.subject as
select
    subject.subject_id,
    meds_split.split
from (
    select distinct subject_id
    from meds_row
    where subject_id is not null
) as subject
left join meds_split on subject.subject_id = meds_split.subject_id
order by subject.subject_id;
