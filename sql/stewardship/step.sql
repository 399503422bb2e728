-- Every edge of the graph that a pattern can walk, in both directions
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per (start, name, goal)
-- Output: steward_step(start, name, goal, fan): fan counts the goals of (start, name)
-- Inputs: kg.edge, kg.predicate, steward_trie
create or replace temp table steward_step as
with both_ways as (
    select
        edge.head_cui as start,
        edge.predicate as name,
        edge.tail_cui as goal
    from kg.edge as edge
    union
    select
        edge.tail_cui as start,
        line.inverse as name,
        edge.head_cui as goal
    from kg.edge as edge
    inner join kg.predicate as line on edge.predicate = line.predicate
)

select
    *,
    count(*) over (partition by start, name) as fan
from both_ways
where name in (select name from steward_trie);
