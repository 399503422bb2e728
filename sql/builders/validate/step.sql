-- The edges that walks of up to three steps between the pairs' concepts can take, in both directions
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per (start, step, goal)
-- Output: step(start, name, goal, fan), fan: of all steps of the name from the start. Inputs: paired, kg.edge,
--   kg.predicate
-- Both ends of such an edge are concepts of pairs or their neighbours: of a whole release that is a small part
create or replace temp table step as
with ended as (
    select distinct head as cui from paired
),

near as (
    select cui from ended
    union
    select edge.tail_cui as cui from kg.edge as edge
    semi join ended on edge.head_cui = ended.cui
    union
    select edge.head_cui as cui from kg.edge as edge
    semi join ended on edge.tail_cui = ended.cui
),

walked as (
    select
        edge.head_cui as start,
        edge.predicate as name,
        edge.tail_cui as goal
    from kg.edge as edge
    semi join near on edge.head_cui = near.cui
    union
    select
        edge.tail_cui as start,
        line.inverse as name,
        edge.head_cui as goal
    from kg.edge as edge
    inner join kg.predicate as line on edge.predicate = line.predicate
    semi join near on edge.tail_cui = near.cui
),

fanned as (
    select
        *,
        count(*) over (partition by start, name) as fan
    from walked
)

select fanned.*
from fanned
semi join near on fanned.goal = near.cui;
