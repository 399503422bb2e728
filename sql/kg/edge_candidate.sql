-- Rows of MRREL as edges, with what speaks against them
-- Grain: one row per row of MRREL and line of the relation table that applies to it
-- Inputs: umls.mrrel, kg.edge_kind, kg.predicate_code, kg.node, kg.suppressed
-- Output: kg.edge_candidate, a staging table of numbers; refused is null where the edge is good
-- Source: UMLS Reference Manual: MRREL reads CUI2 RELA CUI1
create or replace table kg.edge_candidate as
with mapped as (
    select
        kind.kind,
        kind.predicate,
        kind.forward,
        row.rui,
        row.suppress,
        case when kind.forward then row.cui2 else row.cui1 end as head_cui,
        case when kind.forward then row.cui1 else row.cui2 end as tail_cui
    from umls.mrrel as row
    inner join kg.edge_kind as kind
        on
            coalesce(row.rela, '') = kind.rela
            and coalesce(row.rel, '') = kind.rel
            and coalesce(row.sab, '') = kind.sab
)

select
    case when line.symmetric then least(head.node, tail.node) else head.node end as head,
    mapped.predicate,
    case when line.symmetric then greatest(head.node, tail.node) else tail.node end as tail,
    mapped.kind,
    mapped.forward,
    mapped.rui as rui,
    case
        when mapped.head_cui = mapped.tail_cui then 'self_loop'
        when coalesce(mapped.suppress, 'N') in (select suppress from kg.suppressed) then 'suppressed'
        when head.node is null or tail.node is null then 'unknown_concept'
        when not (line.any_head or (head.group_bits & line.head_bits) <> 0) then 'head_group'
        when not (line.any_tail or (tail.group_bits & line.tail_bits) <> 0) then 'tail_group'
        when line.same_group and (head.group_bits & tail.group_bits) = 0 then 'other_group'
    end as refused
from mapped
inner join kg.predicate_code as line on mapped.predicate = line.code
left join kg.node as head on mapped.head_cui = head.cui
left join kg.node as tail on mapped.tail_cui = tail.cui;
