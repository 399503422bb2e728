-- Rows of MRREL as edges, with what speaks against them
-- Grain: one row per row of MRREL and line of the relation table that applies to it
-- Inputs: umls.mrrel, edge_kind, kg.node, kg.suppressed
-- Output: edge_candidate, a staging table of numbers; refused is null where the edge is good, else the number of the
--   reason in kg/edge_refused. Source: UMLS Reference Manual: MRREL reads CUI2 RELA CUI1
create or replace temp table edge_candidate as
with mapped as (
    select
        kind.kind,
        kind.predicate,
        kind.forward,
        kind.symmetric,
        kind.head_bits,
        kind.tail_bits,
        kind.same_bits,
        row.rui,
        row.suppress,
        row.cui1 = row.cui2 as is_loop,
        case when kind.forward then row.cui2 else row.cui1 end as head_cui,
        case when kind.forward then row.cui1 else row.cui2 end as tail_cui
    from umls.mrrel as row
    inner join edge_kind as kind
        on
            coalesce(row.rela, '') = kind.rela
            and coalesce(row.rel, '') = kind.rel
            and coalesce(row.sab, '') = kind.sab
),

-- The bit that all concepts share answers a kind that asks for no group.
node as (
    select
        node,
        cui,
        group_bits | (1::bigint << 62) as group_bits
    from kg.node
)

select
    case when mapped.symmetric then least(head.node, tail.node) else head.node end as head,
    mapped.predicate,
    case when mapped.symmetric then greatest(head.node, tail.node) else tail.node end as tail,
    mapped.kind,
    mapped.forward,
    mapped.rui as rui,
    cast(case
        when mapped.is_loop then 1
        when list_contains((select list(suppress) from kg.suppressed), coalesce(mapped.suppress, 'N')) then 2
        when head.node is null or tail.node is null then 3
        when (head.group_bits & mapped.head_bits) = 0 then 4
        when (tail.group_bits & mapped.tail_bits) = 0 then 5
        when (head.group_bits & tail.group_bits & mapped.same_bits) = 0 then 6
    end as utinyint) as refused
from mapped
left join node as head on mapped.head_cui = head.cui
left join node as tail on mapped.tail_cui = tail.cui;
