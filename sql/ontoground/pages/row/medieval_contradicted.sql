-- One row of the contradicted configuration with others of its split that make the same statement
-- Grain: one row; the wanted one first, and twenty at most
-- Inputs: medieval_contradicted (view of the built dataset); variable wanted (an identifier)
-- Output: a row of the statements of `ontoground explore`. Source: docs/medieval.md
select medieval_contradicted.*
from medieval_contradicted
inner join medieval_contradicted as wanted
    on medieval_contradicted.statement = wanted.statement and medieval_contradicted.split = wanted.split
where wanted.id = getvariable('wanted')
order by medieval_contradicted.id = wanted.id desc, medieval_contradicted.id asc
limit 20
