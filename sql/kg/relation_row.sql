-- Rows of MRREL of a kind that makes edges
-- Grain: one row per row of MRREL. Inputs: umls.mrrel, edge_kind, kg.suppressed
-- Output: none; kg/edges.py reads kind, suppressed (1, else 0), cui1, cui2, rui
-- Source: UMLS Reference Manual, MRREL
with kind as (
    select distinct
        kind,
        rela,
        rel,
        sab
    from edge_kind
)

select
    kind.kind,
    cast(
        coalesce(
            list_contains((select list(suppress) from kg.suppressed), coalesce(row.suppress, 'N')), false
        ) as utinyint
    ) as suppressed,
    row.cui1 as cui1,
    row.cui2 as cui2,
    row.rui as rui
from umls.mrrel as row
inner join kind
    on
        coalesce(row.rela, '') = kind.rela
        and coalesce(row.rel, '') = kind.rel
        and coalesce(row.sab, '') = kind.sab;
