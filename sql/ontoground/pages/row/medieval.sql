-- One row of medieval with all that belong to the same group_id
-- Grain: one row of the group
-- Inputs: medieval (view of the built dataset); variable wanted (an identifier)
-- Output: a row of the statements of `ontoground explore`. Source: docs/medieval.md
select medieval.*
from medieval
inner join medieval as wanted on medieval.group_id = wanted.group_id
where wanted.id = getvariable('wanted')
order by medieval.id
