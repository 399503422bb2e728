-- Edges of each predicate with the vocabularies that state them
-- Grain: one row per predicate
-- Inputs: kg.edge
-- Output: rows for `ontoground graph build`. Source: docs/definitions.md#edge
select
    predicate,
    count(distinct row(head_cui, tail_cui)) as edges,
    string_agg(distinct sab, ', ' order by sab) as vocabularies
from kg.edge
group by predicate
order by edges desc, predicate asc
