-- Ends of true facts that the context of an admission attests, with the mentions that do so
-- Grain: one row per admission, concept and attesting mention
-- Output: attested(hadm_id, cui, via_cui, relation, depth, mention, begin_offset, end_offset, text, section, segment,
--   block)
-- Inputs: present_mention, closure, true_fact
-- In the order of mentions, which is that of admissions: a shard reads its own part only
-- A mention attests its concept, the ancestors of it, and what is linked to it by tradename, ingredient or salt. Of all
--   these only what some true fact speaks of is kept: nothing else can stand in a statement. Source: DESIGN section 5
create or replace temp table attested as
with attesting as (
    select closure.*
    from closure
    where
        closure.relation in ('self', 'equivalent', 'ancestor')
        and closure.other in (
            select true_fact.head_cui from true_fact
            union
            select true_fact.tail_cui from true_fact
        )
)

select
    present_mention.hadm_id,
    attesting.other as cui,
    present_mention.cui as via_cui,
    attesting.relation,
    attesting.depth,
    present_mention.mention,
    present_mention.begin_offset,
    present_mention.end_offset,
    present_mention.text,
    present_mention.section,
    present_mention.segment,
    present_mention.block
from present_mention
inner join attesting on present_mention.cui = attesting.cui;
