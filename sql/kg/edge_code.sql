-- Edges of the concept graph as numbers, sorted
-- Grain: one row per (head, predicate, tail, kind, RUI, direction)
-- Inputs: edge_row, edge_kind
-- Output: kg.edge_code(head, predicate, tail, kind, forward, rui), in the order of the arrays: by edge, evidence that
--   reads forwards first, then by source and relation. kg.edge shows it in words. Source: DESIGN section 4
create or replace table kg.edge_code ( -- noqa: PRS
    head integer,
    predicate utinyint,
    tail integer,
    kind usmallint,
    forward boolean,
    -- Zstandard takes half the time of DuckDB's own choice for texts that never repeat.
    rui varchar using compression zstd
);

insert into kg.edge_code
with kind as (
    select distinct
        kind,
        evidence_rank
    from edge_kind
)

select
    cast(sorted.edge >> 39 as integer) as head,
    cast((sorted.edge >> 31) & 255 as utinyint) as predicate,
    cast(sorted.edge & 2147483647 as integer) as tail,
    sorted.kind,
    sorted.evidence < 32768 as forward,
    sorted.rui
from (
    -- Numbers in one another's bits, 25 of the head, 8 of the predicate, 31 of the tail: few columns are sorted fast.
    select
        (cast(edge.head as ubigint) << 39) | (cast(edge.predicate as ubigint) << 31) | cast(edge.tail as ubigint) as edge,
        cast(kind.evidence_rank + if(edge.forward, 0, 32768) as usmallint) as evidence,
        edge.rui,
        edge.kind
    from edge_row as edge
    inner join kind on edge.kind = kind.kind
    order by edge asc, evidence asc, rui asc, kind asc
) as sorted;
