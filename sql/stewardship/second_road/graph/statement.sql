-- What statements say that the graph does not bear out, whoever the patient: each is asked once, not row by row
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: wrong_claim, one row per statement and disagreement; the answer, one row per row of the dataset that makes it
-- Output: (check_name, id, found, expected), and wrong_claim(columns of claim, check_name, found, expected)
-- Inputs: labelled (all rows), claim, claim_end, related_pair, kg.edge_code, kg.node,
--   kg.predicate_code, kg.evidence_kind, kg.predicate, kg.pattern, kg.name, kg.concept. Parameter: tiers
-- Source: docs/definitions.md#true, #false, #evidence
-- A table: where it is empty, no row is read
create or replace temp table wrong_claim as
with misnamed as (
    select * from claim_end
    where
        not exists (
            select 1 from kg.name
            where kg.name.cui = claim_end.cui and lower(kg.name.name) = lower(claim_end.name)
        )
        and not exists (
            select 1 from kg.concept
            where kg.concept.cui = claim_end.cui and kg.concept.name = claim_end.name
        )
),

path_edge as (
    select distinct unnest(path) as edge from claim
),

-- an edge as the graph may hold it: as it is shown, or the other way round
either_way as (
    select
        path_edge.edge,
        path_edge.edge.head_cui as head_cui,
        line.predicate,
        path_edge.edge.tail_cui as tail_cui
    from path_edge
    inner join kg.predicate as line on path_edge.edge.predicate = line.predicate
    union
    select
        path_edge.edge,
        path_edge.edge.tail_cui as head_cui,
        line.predicate,
        path_edge.edge.head_cui as tail_cui
    from path_edge
    inner join kg.predicate as line
        on path_edge.edge.predicate = line.inverse or (line.symmetric and path_edge.edge.predicate = line.predicate)
),

-- in the numbers of the graph, which is read as a whole
numbered as (
    select
        either_way.edge,
        head.node as head,
        code.code as predicate,
        tail.node as tail
    from either_way
    inner join kg.node as head on either_way.head_cui = head.cui
    inner join kg.node as tail on either_way.tail_cui = tail.cui
    inner join kg.predicate_code as code on either_way.predicate = code.predicate
),

borne_out as (
    select numbered.edge
    from kg.edge_code as stored
    inner join numbered
        on
            stored.head = numbered.head and stored.predicate = numbered.predicate and stored.tail = numbered.tail
            and coalesce(stored.rui, '') = coalesce(numbered.edge.rui, '')
    inner join kg.evidence_kind as kind
        on
            stored.kind = kind.kind and coalesce(kind.sab, '') = coalesce(numbered.edge.sab, '')
            and coalesce(kind.rela, '') = coalesce(numbered.edge.rela, '')
),

missing_edge as (
    select path_edge.edge
    from path_edge
    anti join borne_out on path_edge.edge = borne_out.edge
),

walked as (
    select distinct
        predicate,
        tier,
        list_transform(path, lambda edge: edge.predicate) as steps
    from claim
    where len(path) > 0
),

pattern_steps as (
    select
        predicate,
        tier,
        if(extends = '', steps, list_append(steps, extends)) as steps
    from kg.pattern
),

-- the last edge may describe an end by its class: "..., which is a type of ..."
describing as (
    select distinct extends as name from kg.pattern
    where extends != ''
    union
    select 'has_pharmacologic_class' as name
),

composed as (
    select * from pattern_steps
    union
    select
        pattern_steps.predicate,
        pattern_steps.tier,
        list_append(pattern_steps.steps, describing.name) as steps
    from pattern_steps
    cross join describing
),

uncomposed as (
    select walked.*
    from walked
    anti join composed
        on walked.predicate = composed.predicate and walked.tier = composed.tier and walked.steps = composed.steps
)

select
    claim.*,
    'a true statement has a path of its tier' as check_name,
    'none' as found,
    claim.tier as expected
from claim
where
    claim.is_true
    and not exists (
        select 1 from related_pair
        where
            related_pair.head_cui = claim.head_cui and related_pair.tail_cui = claim.tail_cui
            and related_pair.predicate = claim.predicate and related_pair.tier = claim.tier
            and list_contains(getvariable('tiers'), related_pair.tier)
    )
union all
select
    claim.*,
    'a false statement has no path in either direction' as check_name,
    related.pattern as found,
    'no path within 3 hops' as expected
from claim
inner join (
    select
        head_cui,
        tail_cui,
        pattern
    from related_pair
    union all
    select
        tail_cui as head_cui,
        head_cui as tail_cui,
        pattern
    from related_pair
) as related on claim.head_cui = related.head_cui and claim.tail_cui = related.tail_cui
where not claim.is_true
union all
select
    claim.*,
    'a name is a name of its concept' as check_name,
    'a name that the release does not have' as found,
    misnamed.cui as expected
from claim
inner join misnamed on claim.head_cui = misnamed.cui and claim.head_name is not distinct from misnamed.name
union all
select
    claim.*,
    'a name is a name of its concept' as check_name,
    'a name that the release does not have' as found,
    misnamed.cui as expected
from claim
inner join misnamed on claim.tail_cui = misnamed.cui and claim.tail_name is not distinct from misnamed.name
union all
select
    claim.*,
    'an edge of a path is in the graph' as check_name,
    'no such evidence' as found,
    concat_ws(
        ' ', missing_edge.edge.head_cui, missing_edge.edge.predicate, missing_edge.edge.tail_cui, missing_edge.edge.rui
    ) as expected
from claim
inner join missing_edge on list_contains(claim.path, missing_edge.edge)
union all
select
    claim.*,
    'the steps of a path are a pattern of its tier' as check_name,
    array_to_string(uncomposed.steps, ' . ') as found,
    concat_ws(' ', 'a pattern of', claim.tier, claim.predicate) as expected
from claim
inner join uncomposed
    on
        claim.predicate = uncomposed.predicate and claim.tier is not distinct from uncomposed.tier
        and list_transform(claim.path, lambda edge: edge.predicate) = uncomposed.steps;

select
    wrong_claim.check_name,
    labelled.id,
    wrong_claim.found,
    wrong_claim.expected
from labelled
inner join wrong_claim
    on
        labelled.head_cui = wrong_claim.head_cui and labelled.predicate = wrong_claim.predicate
        and labelled.tail_cui = wrong_claim.tail_cui and labelled.is_true = wrong_claim.is_true
        and labelled.head_name is not distinct from wrong_claim.head_name
        and labelled.tail_name is not distinct from wrong_claim.tail_name
        and labelled.tier is not distinct from wrong_claim.tier and labelled.path is not distinct from wrong_claim.path
