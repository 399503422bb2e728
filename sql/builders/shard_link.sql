-- Pairs of ends of facts that the notes of one shard link
-- Grain: one row per admission and ordered pair. Output: (number, code, other)
-- Inputs: admission, mention_concept, closure, coded, ground.segment. Parameters: shard, ancestor_steps
-- Linked: both mentioned in one sentence or list item, or one of them in the heading of the problem that the other
--   stands under; links count for every assertion, and for the linked forms of a drug. Two mentions make a link: of
--   each concept the first and the last mention of a segment tell whether there are two. Source: DESIGN section 6
with near as (
    select
        closure.cui,
        coded.code
    from closure
    inner join coded on closure.other = coded.cui and coded.is_end
    where
        closure.relation in ('self', 'equivalent')
        or (closure.relation = 'ancestor' and closure.depth <= getvariable('ancestor_steps'))
),

placed as (
    select
        admission.number,
        mention_concept.block,
        mention_concept.segment,
        near.code,
        bool_or(coalesce(part.kind = 'heading', false)) as in_heading,
        min(mention_concept.mention) as first_mention,
        max(mention_concept.mention) as last_mention
    from admission
    inner join mention_concept on admission.hadm_id = mention_concept.hadm_id
    inner join near on mention_concept.cui = near.cui
    left join ground.segment as part
        on mention_concept.note_id = part.note_id and mention_concept.segment = part.begin_offset
    where admission.shard = getvariable('shard')
    group by admission.number, mention_concept.block, mention_concept.segment, near.code
)

select distinct
    placed.number::integer as number,
    placed.code,
    other.code as other
from placed
inner join placed as other
    on
        placed.number = other.number and placed.block = other.block
        and (placed.segment = other.segment or placed.in_heading or other.in_heading)
where
    placed.code != other.code
    and (
        placed.first_mention != other.first_mention or placed.last_mention != other.last_mention
        or placed.first_mention != placed.last_mention
    )
order by all;
