-- Edges of the concept graph as numbers, sorted
-- Grain: one row per (head, predicate, tail, kind, RUI, direction)
-- Inputs: none here; kg/arrays.py fills it in the order of the arrays
-- Output: kg.edge_code(head, predicate, tail, kind, forward, rui), empty: by edge, evidence that reads forwards first,
--   then by source and relation. kg.edge shows it in words. Source: docs/definitions.md#edge
create or replace table kg.edge_code ( -- noqa: PRS
    head integer,
    predicate utinyint,
    tail integer,
    kind usmallint,
    forward boolean,
    -- Zstandard takes half the time of DuckDB's own choice for texts that never repeat.
    rui varchar using compression zstd
);
