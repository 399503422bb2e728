-- The sentence of each predicate that statements use, in both directions
-- Grain: one row per predicate or inverse
-- Inputs: kg.predicate
select
    predicate,
    sentence
from kg.predicate
where statement in ('yes', 'both', 'true')
union
select
    inverse as predicate,
    inverse_sentence as sentence
from kg.predicate
where statement = 'both';
