-- Concepts that the context of an admission attests, with the mentions that do so
-- Grain: one row per admission, concept and attesting mention
-- Output: attested(hadm_id, cui, via_cui, relation, depth, mention, begin_offset, end_offset, text, section, segment,
--   block)
-- Inputs: mention_concept, clear_mention, closure
-- A mention with assertion present attests its concept, the ancestors of it, and what is linked to it by tradename,
--   ingredient or salt. Source: DESIGN section 5
create or replace temp table attested as
with present_mention as (
    select mention_concept.*
    from mention_concept
    inner join clear_mention
        on mention_concept.note_id = clear_mention.note_id and mention_concept.mention = clear_mention.mention
    where mention_concept.assertion = 'present' and mention_concept.in_context
)

select distinct
    present_mention.hadm_id,
    closure.other as cui,
    present_mention.cui as via_cui,
    closure.relation,
    closure.depth,
    present_mention.mention,
    present_mention.begin_offset,
    present_mention.end_offset,
    present_mention.text,
    present_mention.section,
    present_mention.segment,
    present_mention.block
from present_mention
inner join closure on present_mention.cui = closure.cui
where closure.relation in ('self', 'equivalent', 'ancestor');
