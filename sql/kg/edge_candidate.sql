-- Rows of MRREL as edges, with what speaks against them
-- Grain: one row per row of MRREL and line of the relation table that applies to it
-- Inputs: umls.mrrel, kg.relation_use, kg.predicate, kg.node, kg.suppressed
-- Output: kg.edge_candidate, a staging table; refused is null where the edge is good
-- Source: UMLS Reference Manual: MRREL reads CUI2 RELA CUI1
create or replace table kg.edge_candidate as
with mapped as (
    select
        row.rela,
        row.rel,
        row.sab,
        row.rui,
        use.predicate,
        use.direction,
        row.suppress,
        case when use.direction = 'forward' then row.cui2 else row.cui1 end as head_cui,
        case when use.direction = 'forward' then row.cui1 else row.cui2 end as tail_cui
    from umls.mrrel as row
    inner join kg.relation_use as use
        on
            coalesce(row.rela, '') = use.rela
            and coalesce(row.rel, '') = use.rel
            and coalesce(row.sab, '') = use.sab
    where use.predicate <> '-'
)

select
    case when line.symmetric then least(head_cui, tail_cui) else head_cui end as head_cui,
    mapped.predicate,
    case when line.symmetric then greatest(head_cui, tail_cui) else tail_cui end as tail_cui,
    nullif(mapped.rela, '') as rela,
    mapped.rel,
    mapped.sab,
    mapped.rui,
    mapped.direction,
    case
        when head_cui = tail_cui then 'self_loop'
        when coalesce(mapped.suppress, 'N') in (select suppress from kg.suppressed) then 'suppressed'
        when head.cui is null or tail.cui is null then 'unknown_concept'
        when not (line.head_groups = ['*'] or list_has_any(head.groups, line.head_groups)) then 'head_group'
        when not (line.tail_groups = ['*'] or list_has_any(tail.groups, line.tail_groups)) then 'tail_group'
        when line.same_group and not list_has_any(head.groups, tail.groups) then 'other_group'
    end as refused
from mapped
inner join kg.predicate as line on mapped.predicate = line.predicate
left join kg.node as head on mapped.head_cui = head.cui
left join kg.node as tail on mapped.tail_cui = tail.cui;
