-- Edges of the concept graph with their evidence
-- Grain: one row per (head, predicate, tail, RELA, REL, SAB, RUI, direction)
-- Inputs: kg.edge_code, kg.evidence_kind, kg.predicate_code, kg.node
-- Output: kg.edge(head_cui, predicate, tail_cui, rela, rel, sab, rui, direction), a view, read head PREDICATE tail;
--   direction tells whether the row of MRREL itself reads this way (forward) or the other (inverse). Symmetric:
--   head < tail. Source: docs/definitions.md#edge
create or replace view kg.edge as
select
    head.cui as head_cui,
    code.predicate,
    tail.cui as tail_cui,
    kind.rela,
    kind.rel,
    kind.sab,
    edge.rui as rui,
    case when edge.forward then 'forward' else 'inverse' end as direction
from kg.edge_code as edge
inner join kg.node as head on edge.head = head.node
inner join kg.node as tail on edge.tail = tail.node
inner join kg.predicate_code as code on edge.predicate = code.code
inner join kg.evidence_kind as kind on edge.kind = kind.kind;
