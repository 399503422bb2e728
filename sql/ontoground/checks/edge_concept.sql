-- Edges with an end that the graph has no concept for, or from a concept to itself
-- Grain: one row per offending (head, predicate, tail)
-- Inputs: kg.edge, kg.concept
select distinct
    e.head_cui,
    e.predicate,
    e.tail_cui
from kg.edge as e
left join kg.concept as h on e.head_cui = h.cui
left join kg.concept as t on e.tail_cui = t.cui
where h.cui is null or t.cui is null or e.head_cui = e.tail_cui
order by e.head_cui, e.predicate, e.tail_cui;
