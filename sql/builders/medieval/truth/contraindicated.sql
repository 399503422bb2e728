-- Pairs with a contraindication between them or their closures
-- Grain: one row per ordered pair of cohort concepts
-- Output: contraindicated(cui, other)
-- Inputs: closure, found_end, kg.edge. Both orders. Source: docs/definitions.md#true
create or replace temp table contraindicated as
with up as (
    select
        cui,
        other
    from closure
    where relation in ('self', 'equivalent', 'ancestor')
    union
    select
        cui,
        cui as other
    from found_end
),

-- each edge once, not with each of its sources, and each pair once, not for each of its ancestors
edge as (
    select distinct
        head_cui,
        tail_cui
    from kg.edge
    where predicate in ('contraindicated_with', 'contraindicated_class_of')
),

pair as materialized (
    select distinct
        head.cui,
        tail.cui as other
    from edge
    inner join up as head on edge.head_cui = head.other
    inner join up as tail on edge.tail_cui = tail.other
)

select distinct
    unnest([cui, other]) as cui,
    unnest([other, cui]) as other
from pair;
