-- Pairs of which one is contraindicated in the other, or something above one in something above the other
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per ordered pair of claims
-- Output: contraindicated(head_cui, tail_cui). Inputs: claim, claim_end, kg.edge. Source: docs/definitions.md#true
create or replace temp table contraindicated as
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
        cui,
        cui as other
    from claim_end
    union
    select
        above.cui,
        step.other
    from above
    inner join step on above.other = step.cui
),

stated as (
    select
        head_cui as one,
        tail_cui as other
    from kg.edge
    where predicate in ('contraindicated_with', 'contraindicated_class_of')
    union
    select
        tail_cui as one,
        head_cui as other
    from kg.edge
    where predicate in ('contraindicated_with', 'contraindicated_class_of')
)

select distinct
    claim.head_cui,
    claim.tail_cui
from claim
inner join above as head_above on claim.head_cui = head_above.cui
inner join stated on head_above.other = stated.one
inner join above as tail_above on claim.tail_cui = tail_above.cui and stated.other = tail_above.other;
