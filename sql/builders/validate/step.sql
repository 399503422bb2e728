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
    select distinct unnest([edge.head_cui, edge.tail_cui]) as cui
    from kg.edge as edge
    where edge.head_cui in (select ended.cui from ended) or edge.tail_cui in (select ended.cui from ended)
),

touching as (
    select distinct
        edge.head_cui,
        edge.predicate,
        edge.tail_cui
    from kg.edge as edge
    where edge.head_cui in (select near.cui from near) or edge.tail_cui in (select near.cui from near)
),

walked as (
    select
        touching.head_cui as start,
        touching.predicate as name,
        touching.tail_cui as goal
    from touching
    semi join near on touching.head_cui = near.cui
    union
    select
        touching.tail_cui as start,
        line.inverse as name,
        touching.head_cui as goal
    from touching
    inner join kg.predicate as line on touching.predicate = line.predicate
    semi join near on touching.tail_cui = near.cui
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
