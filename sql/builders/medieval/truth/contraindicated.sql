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

pair as (
    select
        head.cui,
        tail.cui as other
    from kg.edge as edge
    inner join up as head on edge.head_cui = head.other
    inner join up as tail on edge.tail_cui = tail.other
    where edge.predicate in ('contraindicated_with', 'contraindicated_class_of')
)

select distinct
    cui,
    other
from pair
union
select distinct
    other as cui,
    cui as other
from pair;
