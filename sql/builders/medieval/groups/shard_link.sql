-- Where the notes of one shard mention ends of facts, to see which of them they link (kernels.links_of)
-- Grain: one row per admission, mention and concept, in any order. Output: (number, code, block, segment, in_heading,
--   mention)
-- Inputs: mention_concept, near_end. Parameters: shard, shard_size
-- Linked: both mentioned in one sentence or list item, or one of them in the heading of the problem that the other
--   stands under; links count for every assertion, and for the linked forms of a drug. Two mentions make a link.
--   Source: docs/definitions.md#linked
select
    mention_concept.number,
    near_end.code,
    mention_concept.block,
    mention_concept.segment,
    mention_concept.in_heading,
    mention_concept.mention
from mention_concept
inner join near_end on mention_concept.cui = near_end.cui
where
    mention_concept.number >= getvariable('shard') * getvariable('shard_size')
    and mention_concept.number < (getvariable('shard') + 1) * getvariable('shard_size')
    and mention_concept.block is not null
