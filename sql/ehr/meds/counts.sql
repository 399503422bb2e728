-- What of a MEDS dataset is not used, or used by a guess
-- Grain: one row per reason: number, and what is counted. Inputs: meds.patient, meds.code, meds.admission, meds.event,
--   meds.note
-- Source: docs/sources.md
select
    sum(n_events)::bigint as n,
    'events are not loaded: their ' || count(*) || ' codes fit no pattern (meds.code)' as what
from meds.code
where kind is null
having count(*) > 0
union all
select
    count(*) as n,
    if(joined = 'time', 'events are of the stay in which their time lies', 'events are of no admission') as what
from (
    select joined from meds.event
    union all
    select joined from meds.note
) as placed
where joined is distinct from 'stated'
group by joined
union all
select
    count(*) as n,
    'patients are in no split that is read: ' || coalesce(source_split, 'none') as what
from meds.patient
where split is null
group by source_split
union all
select
    count(*) as n,
    'admissions end before they begin' as what
from meds.admission
where dischtime < admittime
having count(*) > 0
order by what
