-- Predicates of statements, with the arguments of their two ends
-- Grain: one row per predicate. Output: (predicate, head, tail). Inputs: argument
-- Each predicate has both of its arguments: either end of a fact can be replaced
select
    predicate,
    max(argument) filter (where slot = 'head') as head,
    max(argument) filter (where slot = 'tail') as tail
from argument
group by predicate
order by predicate
