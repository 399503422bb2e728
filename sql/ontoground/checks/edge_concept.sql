-- Edges with an end that the graph has no concept for, or from a concept to itself
-- Grain: one row per offending (head, predicate, tail), in the numbers of kg.edge_code
-- Inputs: kg.edge_code, kg.node, kg.concept
with known as (
    select node.node
    from kg.node as node
    semi join kg.concept as concept on node.cui = concept.cui
)

select distinct
    e.head,
    e.predicate,
    e.tail
from kg.edge_code as e
left join known as h on e.head = h.node
left join known as t on e.tail = t.node
where h.node is null or t.node is null or e.head = e.tail
order by e.head, e.predicate, e.tail;
