-- Pairs of ends of facts that the notes of some admissions link
-- Grain: one row per admission and ordered pair of concepts, in order. Output: (number, code, other)
-- Inputs: mention_concept, near_end. Parameters: first_number, last_number
-- Linked: both mentioned in one sentence or list item, or one of them in the heading of the problem that the other
--   stands under; links count for every assertion, and for the linked forms of a drug. Two mentions make a link.
--   Source: docs/definitions.md#linked
with mentioned as (
    select
        mention_concept.number,
        mention_concept.block,
        mention_concept.segment,
        mention_concept.in_heading,
        mention_concept.mention,
        near_end.code
    from mention_concept
    inner join near_end on mention_concept.cui = near_end.cui
    where
        mention_concept.number between getvariable('first_number') and getvariable('last_number')
        and mention_concept.block is not null
)

select
    one.number,
    one.code,
    other.code as other
from mentioned as one
inner join mentioned as other
    on one.number = other.number and one.block = other.block and one.segment = other.segment
where one.mention != other.mention and one.code != other.code
union
select
    one.number,
    unnest([one.code, other.code]) as code,
    unnest([other.code, one.code]) as other
from mentioned as one
inner join mentioned as other on one.number = other.number and one.block = other.block
where one.in_heading and one.mention != other.mention and one.code != other.code
order by number, code, other
