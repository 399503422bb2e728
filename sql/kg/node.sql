-- Concepts with a number, and their semantic types
-- Grain: kg.node, one row per CUI of MRCONSO; concept_type, one row per CUI of MRSTY
-- Inputs: release.mrconso, release.mrsty, kg.semantic_group
-- Output: kg.node(node, cui, group_bits): numbers follow the order of the CUIs, bit i is the i-th group by name;
--   concept_type(cui, types, groups, group_bits), a staging table. Source: UMLS Reference Manual, MRSTY
create or replace temp table concept_type as
with grp as (
    select
        tui,
        semantic_group,
        1::bigint << (dense_rank() over (order by semantic_group) - 1) as bit
    from kg.semantic_group
)

select
    sty.cui,
    list_sort(list_distinct(list(sty.tui))) as types,
    list_sort(list_distinct(list(grp.semantic_group))) as groups,
    bit_or(grp.bit) as group_bits
from release.mrsty as sty
inner join grp on sty.tui = grp.tui
group by sty.cui;

create or replace table kg.node as
select
    cast(row_number() over (order by known.cui) - 1 as integer) as node,
    known.cui as cui,
    coalesce(typed.group_bits, 0) as group_bits
from (select distinct conso.cui from release.mrconso as conso) as known
left join concept_type as typed on known.cui = typed.cui
where known.cui is not null
order by known.cui;
