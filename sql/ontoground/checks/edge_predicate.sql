-- Edges whose predicate is in no line of the predicates table
-- Grain: one row per predicate, by its number in kg.edge_code
-- Inputs: kg.edge_code, kg.predicate_code, kg.predicate
with known as (
    select code.code
    from kg.predicate_code as code
    semi join kg.predicate as line on code.predicate = line.predicate
)

select
    e.predicate,
    count(*) as n
from kg.edge_code as e
anti join known on e.predicate = known.code
group by e.predicate
order by e.predicate;
