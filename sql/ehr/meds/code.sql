-- Codes of a MEDS dataset, and its patients, each with its split
-- Grain: meds.code, one row per code: what it means, and the number of its events; meds.patient, one row per patient:
--   the split under our name, and as the dataset calls it (source_split)
-- Inputs: meds_row, fitted (ehr/sources/meds.py), meds_title(code, description), meds_split. Source: MEDS 0.4
create schema if not exists meds;

create or replace table meds.code as
with used as (
    select
        code,
        count(*) as n_events
    from meds_row
    where subject_id is not null
    group by code
),

title as (
    select
        code,
        min(description) as description
    from meds_title
    group by code
)

select
    used.*,
    fitted.* exclude (code),
    title.description
from used
inner join fitted on used.code = fitted.code
left join title on used.code = title.code
order by used.code;

create or replace table meds.patient as
select
    patient.subject_id,
    case
        when lower(meds_split.split) in ('tuning', 'validation') then 'validation'
        when lower(meds_split.split) in ('held_out', 'test') then 'test'
        when lower(meds_split.split) = 'train' then 'train'
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
