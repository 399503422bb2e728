-- The edges that walks of up to three steps between the ends of statements can take, in both directions
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: near, one row per concept; step, one per (start, step, goal)
-- Output: near(cui, number); step(start, name, goal, fan), in numbers, fan: of all steps of the name from where the
--   edge is read
-- Inputs: said_end, step_name, kg.edge, kg.predicate
-- Both ends of such an edge are ends of statements or their neighbours: of a whole release that is a small part
create or replace temp table near as
with ended as (
    select distinct cui from said_end
)

select
    beside.cui,
    row_number() over ()::integer as number
from (
    select cui from ended
    union
    select edge.tail_cui as cui
    from kg.edge as edge
    inner join ended on edge.head_cui = ended.cui
    union
    select edge.head_cui as cui
    from kg.edge as edge
    inner join ended on edge.tail_cui = ended.cui
) as beside;

create or replace temp table step as
with walked as (
    select
        near.number as start,
        edge.predicate as name,
        edge.tail_cui as goal
    from kg.edge as edge
    inner join near on edge.head_cui = near.cui
    union
    select
        near.number as start,
        line.inverse as name,
        edge.head_cui as goal
    from kg.edge as edge
    inner join near on edge.tail_cui = near.cui
    inner join kg.predicate as line on edge.predicate = line.predicate
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
