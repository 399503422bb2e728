-- Concepts with a number and their semantic types
-- Grain: one row per CUI of MRCONSO. Numbers follow the order of the CUIs.
-- Inputs: umls.mrconso, umls.mrsty, kg.semantic_group
-- Output: kg.node(node, cui, types, groups, group_bits), a staging table: bit i is the i-th group by name.
--   Source: UMLS Reference Manual, MRSTY
create or replace table kg.node as
with grp as (
    select
        tui,
        semantic_group,
        1::bigint << (dense_rank() over (order by semantic_group) - 1) as bit
    from kg.semantic_group
),

typed as (
    select
        sty.cui,
        list(distinct sty.tui order by sty.tui) as types,
        list(distinct grp.semantic_group order by grp.semantic_group) as groups,
        bit_or(grp.bit) as group_bits
    from umls.mrsty as sty
    inner join grp on sty.tui = grp.tui
    group by sty.cui
),

known as (
    select distinct cui
    from umls.mrconso
    where cui is not null
)

select
    known.cui,
    cast(row_number() over (order by known.cui) - 1 as integer) as node,
    coalesce(typed.types, []) as types,
    coalesce(typed.groups, []) as groups,
    coalesce(typed.group_bits, 0) as group_bits
from known
left join typed on known.cui = typed.cui
order by known.cui;
