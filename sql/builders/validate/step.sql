-- The edges that walks of up to three steps between the ends of statements can take, in both directions
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: near, one row per concept; step, one per (start, step, goal)
-- Output: near(cui, number); step(start, name, goal, fan), in numbers, fan: of all steps of the name from where the
--   edge is read
-- Inputs: said_end, step_name, kg.edge, kg.predicate
-- Both ends of such an edge are ends of statements or their neighbours: of a whole release that is a small part
create or replace temp table near as
select
    beside.cui,
    row_number() over ()::integer as number
from (
    select distinct unnest([edge.head_cui, edge.tail_cui]) as cui
    from kg.edge as edge
    where
        edge.head_cui in (select said_end.cui from said_end)
        or edge.tail_cui in (select said_end.cui from said_end)
) as beside;

create or replace temp table step as
with touching as (
    select distinct
        edge.head_cui,
        edge.predicate,
        edge.tail_cui
    from kg.edge as edge
    where edge.head_cui in (select near.cui from near) or edge.tail_cui in (select near.cui from near)
),

walked as (
    select
        near.number as start,
        touching.predicate as name,
        touching.tail_cui as goal
    from touching
    inner join near on touching.head_cui = near.cui
    union
    select
        near.number as start,
        line.inverse as name,
        touching.head_cui as goal
    from touching
    inner join near on touching.tail_cui = near.cui
    inner join kg.predicate as line on touching.predicate = line.predicate
),

fanned as (
    select
        *,
        (count(*) over (partition by start, name))::integer as fan
    from walked
),

kept as (
    select
        fanned.start,
        fanned.name,
        near.number as goal,
        fanned.fan
    from fanned
    inner join near on fanned.goal = near.cui
)

select
    kept.start,
    step_name.number as name,
    kept.goal,
    kept.fan
from kept
inner join step_name on kept.name = step_name.name
union all
select
    kept.goal as start,
    step_name.number as name,
    kept.start as goal,
    kept.fan
from kept
inner join step_name on '<' || kept.name = step_name.name;
