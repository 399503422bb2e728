-- Where the notes of one shard mention ends of facts, to see which of them they link (kernels.links_of)
-- Grain: one row per admission, segment and concept, by admission and block
-- Output: (number, code, block, segment, in_heading, first_mention, last_mention)
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
)

select
    admission.number::integer as number,
    near.code,
    mention_concept.block,
    mention_concept.segment,
    bool_or(coalesce(part.kind = 'heading', false)) as in_heading,
    min(mention_concept.mention) as first_mention,
    max(mention_concept.mention) as last_mention
from admission
inner join mention_concept on admission.hadm_id = mention_concept.hadm_id
inner join near on mention_concept.cui = near.cui
left join ground.segment as part
    on mention_concept.note_id = part.note_id and mention_concept.segment = part.begin_offset
where admission.shard = getvariable('shard') and mention_concept.block is not null
group by admission.number, mention_concept.block, mention_concept.segment, near.code
order by admission.number, mention_concept.block
