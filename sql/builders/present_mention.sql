-- Mentions of the context that attest what they mean: clear ones that are present
-- Grain: one row per mention and candidate CUI
-- Output: present_mention(hadm_id, mention, begin_offset, end_offset, text, section, segment, block, cui)
-- Inputs: mention_concept, clear_mention. Source: DESIGN section 5
create or replace temp table present_mention as
select
    mention_concept.hadm_id,
    mention_concept.mention,
    mention_concept.begin_offset,
    mention_concept.end_offset,
    mention_concept.text,
    mention_concept.section,
    mention_concept.segment,
    mention_concept.block,
    mention_concept.cui
from mention_concept
semi join clear_mention
    on mention_concept.note_id = clear_mention.note_id and mention_concept.mention = clear_mention.mention
where mention_concept.assertion = 'present' and mention_concept.in_context;
