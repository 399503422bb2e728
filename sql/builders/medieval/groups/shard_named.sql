-- Names found in the bare text of one shard's admissions
-- Grain: one row per admission and name. Output: (number, name). Inputs: named. Parameters: shard, shard_size
select *
from named
where
    number >= getvariable('shard') * getvariable('shard_size')
    and number < (getvariable('shard') + 1) * getvariable('shard_size')
order by number, name
