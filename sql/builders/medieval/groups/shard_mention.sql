-- What the notes and the codes of one shard's admissions may mean
-- Grain: one row per admission, concept and whether a code says so. Output: (number, concept, coded)
-- Inputs: heard. Parameters: shard, shard_size
select *
from heard
where
    number >= getvariable('shard') * getvariable('shard_size')
    and number < (getvariable('shard') + 1) * getvariable('shard_size')
order by number
