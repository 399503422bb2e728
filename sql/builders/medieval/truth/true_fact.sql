-- True facts between concepts that the cohort's notes attest, each by its best path
-- Grain: one row per (head, predicate, tail)
-- Output: true_fact(head_cui, predicate, tail_cui, pattern, tier, hops)
-- Inputs: found_fact(head_cui, predicate, tail_cui, pattern, tier, hops), linked_base, kg.predicate, contraindicated,
--   isolated, contested, disputed
-- The best path has the strongest tier, then the fewest hops. Left out: two forms of one drug, and for predicates that
--   assert a benefit, pairs with a contraindication between them. Source: docs/definitions.md#true
create or replace temp table true_fact as
with ranked as (
    select
        fact.*,
        line.asserts_benefit,
        row_number() over (
            partition by fact.head_cui, fact.predicate, fact.tail_cui
            order by
                list_position(['stated', 'equivalent', 'inherited', 'plausible'], fact.tier), fact.hops, fact.pattern
        ) as choice
    from found_fact as fact
    inner join kg.predicate as line on fact.predicate in (line.predicate, line.inverse)
    left join linked_base as head_base on fact.head_cui = head_base.cui
    left join linked_base as tail_base on fact.tail_cui = tail_base.cui
    where coalesce(head_base.base_cui, fact.head_cui) != coalesce(tail_base.base_cui, fact.tail_cui)
)

select
    ranked.head_cui,
    ranked.predicate,
    ranked.tail_cui,
    ranked.pattern,
    ranked.tier,
    ranked.hops
from ranked
left join contraindicated on ranked.head_cui = contraindicated.cui and ranked.tail_cui = contraindicated.other
left join isolated
    on
        ranked.head_cui = isolated.head_cui and ranked.predicate = isolated.predicate
        and ranked.tail_cui = isolated.tail_cui
left join (
    select
        *,
        'classified_as' as predicate
    from contested
) as contested
    on
        ranked.predicate = contested.predicate
        and ranked.head_cui = contested.head_cui and ranked.tail_cui = contested.tail_cui
left join disputed
    on
        ranked.head_cui = disputed.head_cui and ranked.predicate = disputed.predicate
        and ranked.tail_cui = disputed.tail_cui
where
    ranked.choice = 1
    and not (ranked.asserts_benefit and contraindicated.cui is not null)
    and isolated.head_cui is null
    and contested.head_cui is null
    and disputed.head_cui is null;
