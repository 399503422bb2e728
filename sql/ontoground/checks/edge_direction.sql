-- Edges whose one piece of evidence is read in both directions
-- Grain: one row per pair and predicate, where the predicate has a direction
-- Inputs: kg.edge_code, kg.predicate_code, kg.evidence_kind, kg.node
-- Caveat: two rows of a vocabulary may contradict each other; one row (RUI) must not
with directed as (
    select
        edge.head,
        edge.tail,
        code.predicate,
        kind.sab,
        edge.rui
    from kg.edge_code as edge
    inner join kg.predicate_code as code on edge.predicate = code.code
    inner join kg.evidence_kind as kind on edge.kind = kind.kind
    where not code.symmetric and code.predicate <> 'broader'
)

select
    head.cui as head_cui,
    e.predicate,
    tail.cui as tail_cui,
    e.sab,
    e.rui
from directed as e
inner join directed as b
    on e.head = b.tail and e.tail = b.head and e.predicate = b.predicate and e.rui = b.rui and e.sab = b.sab
inner join kg.node as head on e.head = head.node
inner join kg.node as tail on e.tail = tail.node
where e.head < e.tail and b.head > b.tail
order by head.cui, e.predicate, tail.cui, e.sab, e.rui;
