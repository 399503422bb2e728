-- Events without an admission, each with the stay in which its time lies
-- Grain: one row per event. Inputs: timeless(subject_id, time, hadm_id, ...), stay(subject_id, hadm_id, admittime,
--   dischtime), views
-- Output: by_time, a temporary table: the same columns; hadm_id is the last stay that began before, unless it has ended
-- Caveat: a time without hours stands for its day: the day of admission belongs to the stay
-- Source: docs/sources.md
-- DuckDB does not know how many rows a table of the same transaction has, and would compare each with each.
set asof_loop_join_threshold = 0;

create or replace temp table by_time as
with dated as (
    select
        *,
        if(time = date_trunc('day', time), time + interval 1 day - interval 1 microsecond, time) as latest
    from timeless
),

near as (
    select * from stay
    where subject_id in (select timeless.subject_id from timeless)
)

select
    dated.* exclude (latest) replace (
        if(dated.time <= coalesce(near.dischtime, 'infinity'::timestamp), near.hadm_id, null) as hadm_id
    )
from dated
asof left join near on dated.subject_id = near.subject_id and dated.latest >= near.admittime;

reset asof_loop_join_threshold;
