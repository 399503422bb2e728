-- Where the notes of some admissions mention ends of facts, to see which of them they link (kernels.links_of)
-- Grain: one row per admission, mention and concept, by admission. Output: (number, code, block, segment, in_heading,
--   mention)
-- Inputs: mention_concept, near_end. Parameters: first_number, last_number
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
    mention_concept.number between getvariable('first_number') and getvariable('last_number')
    and mention_concept.block is not null
order by mention_concept.number
