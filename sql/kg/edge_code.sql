-- Edges of the concept graph as numbers, sorted, and those that they imply
-- Grain: one row per (head, predicate, tail, kind, RUI, direction)
-- Inputs: edge_row, edge_kind, drug, drug_link, chemical_source (kg/build.py), kg.predicate_code, kg.evidence_kind
-- Output: kg.edge_code(head, predicate, tail, kind, forward, rui): by edge, evidence that reads forwards first, then by
--   source and relation. kg.edge shows it in words.
-- Source: docs/definitions.md#edge; kg/data/chemical_trees.tsv
create or replace table kg.edge_code ( -- noqa: PRS
    head integer,
    predicate utinyint,
    tail integer,
    kind usmallint,
    forward boolean,
    -- Zstandard takes half the time of DuckDB's own choice for texts that never repeat.
    rui varchar using compression zstd
);

insert into kg.edge_code by name
with named as (
    select
        row.head,
        row.tail,
        row.kind,
        row.forward,
        row.rui,
        case
            when code.predicate <> 'is_a' then code.predicate
            -- Between chemicals a tree of structures or of therapeutic classes says no kind, nor does a parent that is
            -- an ingredient itself: what treats is said of chloroquine is not true of hydroxychloroquine. A parent that
            -- holds another one is no ingredient but a form.
            when row.is_chemical and (tree.kind is not null or coalesce(tail.is_part and not tail.is_whole, false))
                then 'placed_under'
            -- A drug that is only put on the skin does not inherit from the same drug taken by mouth.
            when head.local and not head.systemic and tail.local and tail.systemic then 'narrower_than'
            else 'is_a'
        end as predicate
    from edge_row as row
    inner join kg.predicate_code as code on row.predicate = code.code
    left join drug as head on row.head = head.node
    left join drug as tail on row.tail = tail.node
    left join kg.evidence_kind as tree
        on row.kind = tree.kind and tree.rela is null and tree.sab in (select source.sab from chemical_source as source)
    where row.refused is null and not (code.predicate = 'has_pharmacologic_class' and coalesce(tail.is_part, false))
),

stated as (
    select
        named.* replace (code.code as predicate),
        code.implies,
        code."symmetric" as both_ways
    from named
    inner join kg.predicate_code as code on named.predicate = code.predicate
),

implied as (
    select * from stated
    where implies = 'broader'
    union all
    select * replace (tail as head, head as tail) from stated
    where implies = 'broader' and both_ways
    union all
    -- A whole that is a form of its part is another name of the same drug.
    select stated.* replace (if(link.same, 'drug_form_of', stated.implies) as implies)
    from stated
    inner join drug_link as link on stated.head = link.head and stated.tail = link.tail
    where stated.implies = 'contains_drug'
),

every as (
    select * exclude (implies, both_ways) from stated
    union
    select implied.* exclude (implies, both_ways) replace (code.code as predicate)
    from implied
    inner join kg.predicate_code as code on implied.implies = code.predicate
)

select every.*
from every
inner join (select distinct edge_kind.kind, edge_kind.evidence_rank from edge_kind) as rank on every.kind = rank.kind
order by
    every.head asc,
    every.predicate asc,
    every.tail asc,
    every.forward desc,
    rank.evidence_rank asc,
    every.rui asc nulls last,
    every.kind asc;
