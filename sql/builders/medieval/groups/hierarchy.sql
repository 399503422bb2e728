-- The hierarchy: is_a, and the step from a drug to its pharmacologic class
-- Grain: one row per edge. Output: (head_cui, tail_cui). Inputs: kg.edge
select distinct
    edge.head_cui,
    edge.tail_cui
from kg.edge as edge
where edge.predicate in ('is_a', 'placed_under', 'has_pharmacologic_class')
