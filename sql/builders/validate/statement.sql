-- What statements say that the graph does not bear out, whoever the patient: each is asked once, not row by row
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: wrong, one row per statement and disagreement; the answer, one row per row of the dataset that makes it
-- Output: (check_name, id, found, expected), and wrong(columns of said, check_name, found, expected)
-- Inputs: labelled (all rows), said, said_end, found_path, kg.edge_code, kg.node,
--   kg.predicate_code, kg.evidence_kind, kg.predicate, kg.name, kg.concept. Parameter: tiers
-- Source: docs/definitions.md#true, #false, #evidence
-- A table: where it is empty, no row is read
create or replace temp table wrong as
with misnamed as (
    select * from said_end
    where
        not exists (
            select 1 from kg.name
            where kg.name.cui = said_end.cui and lower(kg.name.name) = lower(said_end.name)
        )
        and not exists (
            select 1 from kg.concept
            where kg.concept.cui = said_end.cui and kg.concept.name = said_end.name
        )
),

shown as (
    select distinct unnest(path) as edge from said
),

-- an edge as the graph may hold it: as it is shown, or the other way round
held as (
    select
        shown.edge,
        shown.edge.head_cui as head_cui,
        line.predicate,
        shown.edge.tail_cui as tail_cui
    from shown
    inner join kg.predicate as line on shown.edge.predicate = line.predicate
    union
    select
        shown.edge,
        shown.edge.tail_cui as head_cui,
        line.predicate,
        shown.edge.head_cui as tail_cui
    from shown
    inner join kg.predicate as line
        on shown.edge.predicate = line.inverse or (line.symmetric and shown.edge.predicate = line.predicate)
),

-- in the numbers of the graph, which is read as a whole
numbered as (
    select
        held.edge,
        head.node as head,
        code.code as predicate,
        tail.node as tail
    from held
    inner join kg.node as head on held.head_cui = head.cui
    inner join kg.node as tail on held.tail_cui = tail.cui
    inner join kg.predicate_code as code on held.predicate = code.predicate
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

strange as (
    select shown.edge
    from shown
    anti join borne_out on shown.edge = borne_out.edge
)

select
    said.*,
    'a true statement has a path of its tier' as check_name,
    'none' as found,
    said.tier as expected
from said
where
    said.is_true
    and not exists (
        select 1 from found_path
        where
            found_path.head_cui = said.head_cui and found_path.tail_cui = said.tail_cui
            and found_path.predicate = said.predicate and found_path.tier = said.tier
            and list_contains(getvariable('tiers'), found_path.tier)
    )
union all
select
    said.*,
    'a false statement has no path in either direction' as check_name,
    found.pattern as found,
    'no path within 3 hops' as expected
from said
inner join (
    select
        head_cui,
        tail_cui,
        pattern
    from found_path
    union all
    select
        tail_cui as head_cui,
        head_cui as tail_cui,
        pattern
    from found_path
) as found on said.head_cui = found.head_cui and said.tail_cui = found.tail_cui
where not said.is_true
union all
select
    said.*,
    'a name is a name of its concept' as check_name,
    'a name that the release does not have' as found,
    misnamed.cui as expected
from said
inner join misnamed on said.head_cui = misnamed.cui and said.head_name is not distinct from misnamed.name
union all
select
    said.*,
    'a name is a name of its concept' as check_name,
    'a name that the release does not have' as found,
    misnamed.cui as expected
from said
inner join misnamed on said.tail_cui = misnamed.cui and said.tail_name is not distinct from misnamed.name
union all
select
    said.*,
    'an edge of a path is in the graph' as check_name,
    'no such evidence' as found,
    concat_ws(' ', strange.edge.head_cui, strange.edge.predicate, strange.edge.tail_cui, strange.edge.rui)
        as expected
from said
inner join strange on list_contains(said.path, strange.edge);

select
    wrong.check_name,
    labelled.id,
    wrong.found,
    wrong.expected
from labelled
inner join wrong
    on
        labelled.head_cui = wrong.head_cui and labelled.predicate = wrong.predicate
        and labelled.tail_cui = wrong.tail_cui and labelled.is_true = wrong.is_true
        and labelled.head_name is not distinct from wrong.head_name
        and labelled.tail_name is not distinct from wrong.tail_name
        and labelled.tier is not distinct from wrong.tier and labelled.path is not distinct from wrong.path
