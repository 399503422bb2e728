-- Why statements must not be called false, by the rules of the builder of MediEval
-- Grain: one row per claim and reason. Output: (head_cui, predicate, tail_cui, reason)
-- Inputs: asked_claim, related_end(head_cui, tail_cui), known_end, known_user, known_kin, ground, scope, nameable,
--   kg.predicate, together. Parameter: taxonomic
-- Source: docs/definitions.md#false
-- What builders/data lists the uses of is known as well as what the graph does
with listed as (
    select
        line.predicate,
        'head' as slot,
        known_user.cui
    from known_user
    inner join kg.predicate as line on line.asserts_benefit
    union
    select
        line.predicate,
        'tail' as slot,
        known_kin.cui
    from known_kin
    inner join kg.predicate as line on line.asserts_benefit
)

select distinct
    claim.head_cui,
    claim.predicate,
    claim.tail_cui,
    'a path within 3 hops relates the ends' as reason
from asked_claim as claim
inner join related_end as related
    on
        (claim.head_cui = related.head_cui and claim.tail_cui = related.tail_cui)
        or (claim.head_cui = related.tail_cui and claim.tail_cui = related.head_cui)
union all
select
    claim.*,
    'that a release is silent about this relation says nothing' as reason
from asked_claim as claim
inner join kg.predicate as line on claim.predicate = line.predicate
where line.statement = 'true'
union all
select
    claim.*,
    concat('the graph knows no such relation of the ', slot.slot) as reason
from asked_claim as claim
cross join (values ('head'), ('tail')) as slot (slot)
anti join known_end
    on
        claim.predicate = known_end.predicate and slot.slot = known_end.slot
        and if(slot.slot = 'head', claim.head_cui, claim.tail_cui) = known_end.cui
anti join listed
    on
        claim.predicate = listed.predicate and slot.slot = listed.slot
        and if(slot.slot = 'head', claim.head_cui, claim.tail_cui) = listed.cui
union all
select
    claim.*,
    own.reason
from asked_claim as claim
inner join nameable as head on claim.head_cui = head.cui
inner join nameable as tail on claim.tail_cui = tail.cui
inner join ground as own on head.code = own.code and own.side = 'head'
inner join ground as other
    on tail.code = other.code and other.side = 'tail' and own.reason = other.reason and own.key = other.key
semi join scope as own_scope on claim.predicate = own_scope.predicate and own.scope = own_scope.scope
semi join scope as other_scope on claim.predicate = other_scope.predicate and other.scope = other_scope.scope
union all
select
    claim.*,
    together.reason
from asked_claim as claim
inner join together
    on claim.head_cui = together.head_cui and claim.tail_cui = together.tail_cui
-- company is no sign of what is a kind of what
where not list_contains(getvariable('taxonomic'), claim.predicate)
order by head_cui, predicate, tail_cui, reason;
