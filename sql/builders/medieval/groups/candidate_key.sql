-- What the draws of the candidates for one quadrant of a group have in common: their hash is of this and the concept
-- Grain: one row per group of a shard and quadrant, in the order of groups and quadrants. Output: (key)
-- Inputs: fact_group. Parameters: seed, shard, shard_size
select concat_ws(chr(31), getvariable('seed'), 'candidate', fact_group.group_id, replaced.quadrant, '') as key
from fact_group
cross join (values ('Q2'), ('Q3'), ('Q4')) as replaced (quadrant)
where fact_group.number // getvariable('shard_size') = getvariable('shard')
order by fact_group.group_no, replaced.quadrant
