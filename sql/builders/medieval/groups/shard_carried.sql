-- Ends of facts that the notes of one shard mention, in whatever form
-- Grain: one row per admission and concept. Output: (number, code)
-- Inputs: mention_concept, closure, nameable. Parameters: shard, shard_size
select distinct
    mention_concept.number,
    nameable.code
from mention_concept
inner join closure on mention_concept.cui = closure.cui and closure.relation in ('self', 'equivalent')
inner join nameable on closure.other = nameable.cui and nameable.is_end
where
    mention_concept.number >= getvariable('shard') * getvariable('shard_size')
    and mention_concept.number < (getvariable('shard') + 1) * getvariable('shard_size')
order by all;
