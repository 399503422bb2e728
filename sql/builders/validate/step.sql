-- Every edge in both directions, by the name of the step that walks it, with the fan of its start
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per (start, step, goal)
-- Output: step(start, name, goal, fan). Inputs: kg.edge, kg.predicate
create or replace temp table step as
with edge as (
    select distinct
        head_cui,
        predicate,
        tail_cui
    from kg.edge
),

walked as (
    select
        edge.head_cui as start,
        edge.predicate as name,
        edge.tail_cui as goal
    from edge
    union
    select
        edge.tail_cui as start,
        line.inverse as name,
        edge.head_cui as goal
    from edge
    inner join kg.predicate as line on edge.predicate = line.predicate
)

select
    *,
    count(*) over (partition by start, name) as fan
from walked;
