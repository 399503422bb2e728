-- What the notes and the codes of one shard's admissions may mean
-- Grain: one row per admission, concept and whether a code says so. Output: (number, concept, from_code)
-- Inputs: evidence. Parameters: shard, shard_size
select *
from evidence
where
    number >= getvariable('shard') * getvariable('shard_size')
    and number < (getvariable('shard') + 1) * getvariable('shard_size')
order by number
