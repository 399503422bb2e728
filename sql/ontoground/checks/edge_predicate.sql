-- Edges whose predicate is in no line of the predicates table
-- Grain: one row per predicate
-- Inputs: kg.edge, kg.predicate
select
    e.predicate,
    count(*) as n
from kg.edge as e
anti join kg.predicate as p on e.predicate = p.predicate
group by e.predicate
order by e.predicate;
