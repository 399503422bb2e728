-- What of a MEDS dataset is not used, or used with a guess
-- Grain: one row per reason: number, and what is counted. Inputs: meds.subject, meds.code, meds.admission, meds.event,
--   meds.note
-- Source: docs/sources.md
select
    coalesce(sum(n_events), 0)::bigint as n,
    'events of ' || count(*) || ' codes that fit no pattern are not loaded (meds.code)' as what
from meds.code
where kind is null
having count(*) > 0
union all
select
    count(*) as n,
    'events are of the stay in which their time lies' as what
from (
    select joined from meds.event
    union all
    select joined from meds.note
) as placed
where joined = 'time'
union all
select
    count(*) as n,
    'events are of no admission' as what
from (
    select joined from meds.event
    union all
    select joined from meds.note
) as placed
where joined is null
union all
select
    count(*) as n,
    'patients are in no split' as what
from meds.subject
where split is null and exists (select 1 from meds.subject where split is not null)
union all
select
    count(*) as n,
    'patients are in a split that is none of train, tuning, validation, held_out and test: ' || split as what
from meds.subject
where lower(split) not in ('train', 'tuning', 'validation', 'held_out', 'test')
group by split
union all
select
    count(*) as n,
    'admissions end before they begin' as what
from meds.admission
where dischtime < admittime
