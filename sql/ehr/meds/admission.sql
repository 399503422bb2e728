-- Admissions of a MEDS dataset
-- Grain: one row per admission. Output: meds.admission(subject_id, hadm_id, admittime, dischtime)
-- Inputs: meds_row, meds.code
-- An admission is what has one hadm_id: from its events of admission and discharge, else from its first event to its
--   last. Events of admission without hadm_id begin one that goes to the first discharge before the next; its number
--   is a hash of patient and time
-- Caveat: a hadm_id of several patients is that of none; their events are placed by time
-- Source: MEDS 0.4 knows no admissions; docs/sources.md
create or replace table meds.admission as
with marked as (
    select
        meds_row.*,
        code.kind
    from meds_row
    inner join meds.code as code on meds_row.code = code.code
    where meds_row.subject_id is not null
),

stated as (
    select
        subject_id,
        hadm_id,
        coalesce(min(time) filter (where kind = 'admission'), min(time)) as admittime,
        coalesce(max(time) filter (where kind = 'discharge'), max(time)) as dischtime
    from marked
    where hadm_id is not null
    group by subject_id, hadm_id
    qualify count(*) over (partition by hadm_id) = 1
),

beginning as (
    select
        subject_id,
        time as admittime,
        lead(time) over (partition by subject_id order by time) as next_time
    from marked
    where kind = 'admission' and hadm_id is null and time is not null
    group by subject_id, time
)

select * from stated
union all
select
    beginning.subject_id,
    (md5_number_lower(concat_ws('//', beginning.subject_id, beginning.admittime)) // 2)::bigint as hadm_id,
    beginning.admittime,
    min(ending.time) as dischtime
from beginning
left join marked as ending
    on
        ending.kind = 'discharge' and ending.hadm_id is null and beginning.subject_id = ending.subject_id
        and beginning.admittime <= ending.time
        and ending.time <= coalesce(beginning.next_time, 'infinity'::timestamp)
group by beginning.subject_id, beginning.admittime
order by all;
