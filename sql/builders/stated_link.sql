-- Pairs of attested concepts that a note itself links
-- Grain: stated_link, one row per admission and ordered pair; co_stated, one row per ordered pair that notes link often
-- Output: stated_link(hadm_id, cui, other, mention, other_mention), co_stated(cui, other)
-- Inputs: mention_concept, closure, ground.segment
-- Linked: both mentioned in one sentence or list item, or one of them in the heading of the problem that the other
--   stands under; links count for every assertion, and for the linked forms of a drug. co_stated: linked in at least a
--   twentieth of the admissions that mention both. Source: DESIGN sections 4 (False) and 6 (support_level)
create or replace temp table stated_link as
with placed as (
    select
        mention_concept.hadm_id,
        mention_concept.mention,
        mention_concept.segment,
        mention_concept.block,
        coalesce(part.kind = 'heading', false) as in_heading,
        closure.other as cui
    from mention_concept
    inner join closure on mention_concept.cui = closure.cui
    left join ground.segment as part
        on mention_concept.note_id = part.note_id and mention_concept.segment = part.begin_offset
    where
        closure.relation in ('self', 'equivalent')
        or (closure.relation = 'ancestor' and closure.depth <= getvariable('ancestor_steps'))
)

select
    placed.hadm_id,
    placed.cui,
    other.cui as other,
    min(placed.mention) as mention,
    arg_min(other.mention, (placed.mention, other.mention)) as other_mention
from placed
inner join placed as other
    on
        placed.hadm_id = other.hadm_id and placed.block = other.block
        and (placed.segment = other.segment or placed.in_heading or other.in_heading)
where placed.mention != other.mention and placed.cui != other.cui
group by placed.hadm_id, placed.cui, other.cui;

create or replace temp table co_stated as
with carrier as (
    select distinct
        mention_concept.hadm_id,
        closure.other as cui
    from mention_concept
    inner join closure on mention_concept.cui = closure.cui
    where closure.relation in ('self', 'equivalent')
),

linked as (
    select
        cui,
        other,
        count(distinct hadm_id) as n
    from stated_link
    group by cui, other
),

together as (
    select
        linked.cui,
        linked.other,
        count(distinct carrier.hadm_id) as n
    from linked
    inner join carrier on linked.cui = carrier.cui
    inner join carrier as other_carrier
        on linked.other = other_carrier.cui and carrier.hadm_id = other_carrier.hadm_id
    group by linked.cui, linked.other
)

select
    linked.cui,
    linked.other
from linked
left join together on linked.cui = together.cui and linked.other = together.other
where linked.n >= 0.05 * coalesce(together.n, 0);
