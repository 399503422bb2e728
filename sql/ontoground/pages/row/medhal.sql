-- One row of medhal with all that belong to the same pair_id
-- Grain: one row of the group
-- Inputs: medhal (view of the built dataset); variable wanted (an identifier)
-- Output: a row of the statements of `ontoground explore`. Source: docs/medhal.md
select medhal.*
from medhal
inner join medhal as wanted on medhal.pair_id = wanted.pair_id
where wanted.id = getvariable('wanted')
order by medhal.id
