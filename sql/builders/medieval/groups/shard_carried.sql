-- Ends of facts that the notes of one shard mention, in whatever form
-- Grain: one row per admission and concept. Output: (number, code)
-- Inputs: mention_concept, near_end. Parameters: shard, shard_size
select distinct
    mention_concept.number,
    near_end.code
from mention_concept
inner join near_end on mention_concept.cui = near_end.cui
where
    near_end.is_same
    and mention_concept.number >= getvariable('shard') * getvariable('shard_size')
    and mention_concept.number < (getvariable('shard') + 1) * getvariable('shard_size')
order by all;
