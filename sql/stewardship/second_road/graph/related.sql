-- Which pairs of the dataset a pattern of the graph relates, found by joins that meet before the last step
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: opening_walk, one row per start, place and steps to it; related_pair, one per ordered pair and pattern
-- Output: opening_walk(start, place, opening, fan), related_pair(head_cui, tail_cui, predicate, pattern, tier, hops),
--   added to. Inputs: start_pair(start, goal, lot), walk_plan, step, near, kg.pattern. Parameter: lot, of starts whose
--   walks fit into memory together
-- The builder walks arrays; here up to two steps are joined from the start of a pair, and the last one from its goal. A
--   step is not taken from a concept whose fan is above the pattern's max_fan (0: no limit)
create or replace temp table opening_walk as
-- No walk is made that no pattern asks for; it carries a number in the place of the names of its steps
with opening as (
    select distinct
        opening,
        first_name,
        second_name
    from walk_plan
),

standing as (
    select distinct start
    from start_pair
    where lot = getvariable('lot')
),

first_step as (
    select
        standing.start,
        step.name,
        step.goal as place,
        step.fan
    from standing
    inner join step on standing.start = step.start
)

select
    standing.start,
    standing.start as place,
    opening.opening,
    0 as fan
from standing
inner join opening on opening.first_name is null
union all
select
    first_step.start,
    first_step.place,
    opening.opening,
    first_step.fan
from first_step
inner join opening on first_step.name = opening.first_name and opening.second_name is null
union all
select
    first_step.start,
    step.goal as place,
    opening.opening,
    min(greatest(first_step.fan, step.fan)) as fan
from first_step
inner join step on first_step.place = step.start
inner join opening on first_step.name = opening.first_name and step.name = opening.second_name
group by all;

insert into related_pair
-- Each in its turn: DuckDB may take the join of all openings with all that asks for them for a small one
with last_step as materialized (
    select
        start_pair.start,
        start_pair.goal,
        step.start as place,
        step.name,
        step.fan
    from start_pair
    inner join step on start_pair.goal = step.goal
    where start_pair.lot = getvariable('lot')
),

meeting as materialized (
    select
        last_step.start,
        last_step.goal,
        last_step.name,
        opening_walk.opening,
        greatest(opening_walk.fan, last_step.fan) as fan
    from last_step
    inner join opening_walk on last_step.start = opening_walk.start and last_step.place = opening_walk.place
),

-- of walks with the same names, the one with the least fan is within a limit if any is
narrowest as (
    select
        meeting.start,
        meeting.goal,
        walk_plan.steps,
        walk_plan.backward,
        min(meeting.fan) as fan
    from meeting
    inner join walk_plan on meeting.opening = walk_plan.opening and meeting.name = walk_plan.last_name
    group by all
)

select
    if(narrowest.backward, goal.cui, start.cui) as head_cui,
    if(narrowest.backward, start.cui, goal.cui) as tail_cui,
    pattern.predicate,
    pattern.pattern,
    pattern.tier,
    len(pattern.steps)::integer as hops
from narrowest
inner join kg.pattern as pattern on narrowest.steps = pattern.steps
inner join near as start on narrowest.start = start.number
inner join near as goal on narrowest.goal = goal.number
where pattern.extends = '' and (pattern.max_fan = 0 or narrowest.fan <= pattern.max_fan);
