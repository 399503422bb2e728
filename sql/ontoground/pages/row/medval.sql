-- One row of medval with all that belong to the same triple_id
-- Grain: one row of the group
-- Inputs: medval (view of the built dataset); variable wanted (an identifier)
-- Output: a row of the statements of `ontoground explore`. Source: docs/medval.md
select medval.*
from medval
inner join medval as wanted on medval.triple_id = wanted.triple_id
where wanted.id = getvariable('wanted')
order by medval.id
