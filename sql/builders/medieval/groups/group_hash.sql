-- What the draws of a group's candidates for one quadrant depend on, beside the concept
-- Grain: one row per group of some admissions and quadrant, in the order of groups and quadrants. Output: (hash), the
--   stable hash of ground/stable.py. Inputs: fact_group. Parameters: seed, first_number, last_number
select
    md5_number_upper(
        concat_ws(chr(31), getvariable('seed'), 'candidate', fact_group.group_id, replaced.quadrant)
    ) as hash
from fact_group
cross join (values ('Q2'), ('Q3'), ('Q4')) as replaced (quadrant)
where fact_group.number between getvariable('first_number') and getvariable('last_number')
order by fact_group.group_no, replaced.quadrant
