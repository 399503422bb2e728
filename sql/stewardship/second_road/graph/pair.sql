-- Pairs of the dataset, in lots: only a lot's walks are in memory at once
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per unordered pair
-- Output: start_pair(start, goal, lot), in numbers, and related_pair without rows
-- Inputs: claim(head_cui, tail_cui, ...), near, step. Parameter: starts_at_once
-- Walks are begun at the end that more steps touch: these are few and in many pairs, and each is walked from but once
create or replace temp table start_pair as
with touched as (
    select
        near.cui,
        near.number,
        count(step.goal) as steps
    from near
    left join step on near.number = step.start
    group by all
),

pair as (
    select distinct
        least(head_cui, tail_cui) as one,
        greatest(head_cui, tail_cui) as other
    from claim
),

turned as (
    select
        if(one.steps >= other.steps, one.number, other.number) as start,
        if(one.steps >= other.steps, other.number, one.number) as goal
    from pair
    inner join touched as one on pair.one = one.cui
    inner join touched as other on pair.other = other.cui
    where pair.one != pair.other
)

select
    *,
    (dense_rank() over (order by start) - 1) // getvariable('starts_at_once') as lot
from turned;

create or replace temp table related_pair (
    head_cui varchar,
    tail_cui varchar,
    predicate varchar,
    pattern varchar,
    tier varchar,
    hops integer
);
