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
    edge.head,
    edge.predicate,
    edge.tail,
    edge.kind,
    edge.forward,
    edge.rui
from edge_row as edge
inner join kind on edge.kind = kind.kind
order by
    edge.head asc,
    edge.predicate asc,
    edge.tail asc,
    edge.forward desc,
    kind.evidence_rank asc,
    edge.rui asc,
    edge.kind asc;
