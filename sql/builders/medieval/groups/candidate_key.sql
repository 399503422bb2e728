-- The part of the hash keys that a group's candidates for one quadrant share; the concept follows it
-- Grain: one row per group of some admissions and quadrant, in the order of groups and quadrants. Output: (key)
-- Inputs: fact_group. Parameters: seed, first_number, last_number
select concat_ws(chr(31), getvariable('seed'), 'candidate', fact_group.group_id, replaced.quadrant, '') as key
from fact_group
cross join (values ('Q2'), ('Q3'), ('Q4')) as replaced (quadrant)
where fact_group.number between getvariable('first_number') and getvariable('last_number')
order by fact_group.group_no, replaced.quadrant
