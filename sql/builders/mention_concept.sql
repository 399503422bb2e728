-- Mentions of the cohort, one row per candidate concept, with the segment they stand in
-- Grain: one row per mention and candidate CUI
-- Output: mention_concept(hadm_id, note_id, mention, begin_offset, end_offset, text, section, assertion, cui, position,
--   n_candidates, in_context, segment, block)
-- Inputs: cohort, context_piece, ground.mention, ground.segment
-- Source: DESIGN section 5
create or replace temp table mention_concept as
with numbered as (
    select
        cohort.hadm_id,
        mention.note_id,
        mention.begin_offset,
        mention.end_offset,
        mention.text,
        mention.section,
        mention.assertion,
        mention.cuis,
        row_number() over (partition by mention.note_id order by mention.begin_offset, mention.end_offset) as mention
    from cohort
    inner join ground.mention as mention on cohort.note_id = mention.note_id
),

placed as (
    select
        numbered.*,
        piece.hadm_id is not null as in_context
    from numbered
    left join context_piece as piece
        on
            numbered.note_id = piece.note_id
            and numbered.begin_offset >= piece.begin_offset and numbered.end_offset <= piece.end_offset
),

segmented as (
    select
        placed.*,
        segment.begin_offset as segment,
        segment.block
    from placed
    asof left join ground.segment as segment
        on placed.note_id = segment.note_id and placed.begin_offset >= segment.begin_offset
)

select
    * exclude (cuis),
    len(cuis) as n_candidates,
    unnest(cuis) as cui,
    generate_subscripts(cuis, 1) as position
from segmented
-- by admission, so that a shard reads its own part only
order by hadm_id;
