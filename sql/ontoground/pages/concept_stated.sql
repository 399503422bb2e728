-- Statements that speak of a concept, by predicate and quadrant
-- Grain: one row per (predicate, quadrant)
-- Inputs: ground.medieval; variable wanted (a CUI)
-- Output: rows of a concept of `ontoground explore`. Source: docs/definitions.md#quadrant
select
    predicate,
    quadrant,
    count(*) as statements
from ground.medieval
where head_cui = getvariable('wanted') or tail_cui = getvariable('wanted')
group by predicate, quadrant
order by statements desc, predicate asc, quadrant asc
