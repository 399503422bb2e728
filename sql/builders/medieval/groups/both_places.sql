-- Predicates of statements, with the places of their two ends
-- Grain: one row per predicate. Output: (predicate, head, tail). Inputs: place
-- Each predicate has both of its places: either end of a fact can be replaced
select
    predicate,
    max(place) filter (where slot = 'head') as head,
    max(place) filter (where slot = 'tail') as tail
from place
group by predicate
order by predicate
