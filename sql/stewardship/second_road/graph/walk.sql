-- Which walks patterns ask for
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: walk and walk_plan, one row per steps of patterns and direction; step_name, one per name of a step
-- Output: step_name(name, number); walk_plan(steps, backward, opening, first_name, second_name, last_name): names by
--   their numbers, opening: a number for the steps before the last, of which there are none to two. Input: kg.pattern
-- A pattern is walked from its head or, backward, from its tail: then each step is taken from goal to start, and
--   its name begins with <
create or replace temp table walk as
with pattern as (
    select distinct steps
    from kg.pattern
    where extends = ''
)

select
    steps,
    false as backward,
    steps as names
from pattern
union all
select
    steps,
    true as backward,
    list_transform(list_reverse(steps), lambda name: '<' || name) as names
from pattern;

create or replace temp table step_name as
select
    named.name,
    row_number() over ()::utinyint as number
from (select distinct unnest(names) as name from walk) as named;

create or replace temp table walk_plan as
select
    walk.steps,
    walk.backward,
    (dense_rank() over (order by walk.names[:-2]))::smallint as opening,
    if(len(walk.names) > 1, first_name.number, null) as first_name,
    if(len(walk.names) > 2, second_name.number, null) as second_name,
    last_name.number as last_name
from walk
inner join step_name as first_name on walk.names[1] = first_name.name
left join step_name as second_name on walk.names[2] = second_name.name
inner join step_name as last_name on walk.names[-1] = last_name.name;
