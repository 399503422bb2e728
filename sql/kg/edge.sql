-- Edges of the concept graph with their evidence
-- Grain: one row per (head, predicate, tail, RELA, REL, SAB, RUI, direction)
-- Inputs: kg.edge_code, kg.edge_kind, kg.predicate_code, kg.node
-- Output: kg.edge(head_cui, predicate, tail_cui, rela, rel, sab, rui, direction), read head PREDICATE tail; direction
--   tells whether the row of MRREL itself reads this way (forward) or the other (inverse). Symmetric: head < tail.
-- Source: DESIGN section 4
create or replace table kg.edge as
with kind as (
    select distinct
        kind,
        rela,
        rel,
        sab
    from kg.edge_kind
)

select
    head.cui as head_cui,
    code.predicate,
    tail.cui as tail_cui,
    nullif(kind.rela, '') as rela,
    nullif(kind.rel, '') as rel,
    nullif(kind.sab, '') as sab,
    edge.rui as rui,
    case when edge.forward then 'forward' else 'inverse' end as direction
from kg.edge_code as edge
inner join kg.node as head on edge.head = head.node
inner join kg.node as tail on edge.tail = tail.node
inner join kg.predicate_code as code on edge.predicate = code.code
inner join kind on edge.kind = kind.kind;
