-- Rows of MRREL as edges between numbers, and what speaks against each
-- Grain: one row per row of MRREL and line that applies to it
-- Inputs: release.mrrel, edge_kind, kg.node, kg.suppressed, kg.predicate_code
-- Output: edge_row(head, tail, predicate, kind, forward, rui, is_chemical, refused), a staging table.
--   Symmetric: head < tail. forward: the row itself reads from head to tail. is_chemical: both ends are.
--   refused: the number of the reason in kg.edge_refused, null where nothing speaks against the edge.
-- Source: UMLS Reference Manual, MRREL: it reads CUI2 RELA CUI1
create or replace temp table edge_row as
with chemical as (
    select
        head_bits,
        tail_bits
    from kg.predicate_code
    where predicate = 'placed_under'
),

ended as (
    select
        line.* exclude (rela, rel, sab),
        nullif(row.rui, '') as rui,
        coalesce(row.cui1 = row.cui2, false) as is_loop,
        coalesce(row.suppress, 'N') in (select suppress from kg.suppressed) as is_suppressed,
        if(line.forward, two.node, one.node) as source,
        if(line.forward, one.node, two.node) as target,
        -- A bit that all concepts share: it answers a line that asks for no group (kg/build.py).
        if(line.forward, two.group_bits, one.group_bits) | (1::bigint << 62) as source_groups,
        if(line.forward, one.group_bits, two.group_bits) | (1::bigint << 62) as target_groups
    from release.mrrel as row
    inner join edge_kind as line
        on
            coalesce(row.rela, '') = line.rela
            and coalesce(row.rel, '') = line.rel
            and coalesce(row.sab, '') = line.sab
    left join kg.node as one on row.cui1 = one.cui
    left join kg.node as two on row.cui2 = two.cui
)

select
    if(ended."symmetric", least(ended.source, ended.target), ended.source) as head,
    if(ended."symmetric", greatest(ended.source, ended.target), ended.target) as tail,
    ended.predicate,
    ended.kind,
    ended.forward,
    ended.rui,
    ended.source_groups & chemical.head_bits <> 0 and ended.target_groups & chemical.tail_bits <> 0 as is_chemical,
    cast(
        case
            when ended.is_loop then 1
            when ended.is_suppressed then 2
            when ended.source is null or ended.target is null then 3
            when ended.source_groups & ended.head_bits = 0 then 4
            when ended.target_groups & ended.tail_bits = 0 then 5
            when ended.source_groups & ended.target_groups & ended.same_bits = 0 then 6
        end as utinyint
    ) as refused
from ended
cross join chemical;
