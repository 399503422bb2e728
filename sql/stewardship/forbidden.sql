-- Pairs of which one is contraindicated in the other, or something above one in something above the other
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per ordered pair of steward_pair
-- Output: steward_forbidden(head_cui, tail_cui, predicate)
-- Inputs: steward_pair, kg.edge. Source: docs/definitions.md#true
create or replace temp table steward_forbidden as
with recursive step as materialized (
    select
        head_cui as cui,
        tail_cui as other
    from kg.edge
    where predicate in ('is_a', 'placed_under', 'drug_form_of')
    union
    select
        tail_cui as cui,
        head_cui as other
    from kg.edge
    where predicate = 'drug_form_of'
),

above as (
    select
        ends.cui,
        ends.cui as other
    from (
        select head_cui as cui from steward_pair
        union
        select tail_cui as cui from steward_pair
    ) as ends
    union
    select
        above.cui,
        step.other
    from above
    inner join step on above.other = step.cui
),

spoken as (
    select
        edge.head_cui as one,
        edge.tail_cui as other,
        edge.predicate
    from kg.edge as edge
    where edge.predicate in ('contraindicated_with', 'contraindicated_class_of')
    union
    select
        edge.tail_cui as one,
        edge.head_cui as other,
        edge.predicate
    from kg.edge as edge
    where edge.predicate in ('contraindicated_with', 'contraindicated_class_of')
)

select distinct
    pair.head_cui,
    pair.tail_cui,
    spoken.predicate
from steward_pair as pair
inner join above as head_above on pair.head_cui = head_above.cui
inner join spoken on head_above.other = spoken.one
inner join above as tail_above on pair.tail_cui = tail_above.cui and spoken.other = tail_above.other;
