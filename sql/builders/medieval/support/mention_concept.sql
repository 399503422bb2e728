-- Mentions of the cohort, one row per candidate concept, with the segment they stand in
-- Grain: one row per mention and candidate CUI
-- Output: mention_concept(number, hadm_id, mention, assertion, certainty, cui, position, n_candidates, in_context,
--   segment, block, in_heading)
-- Inputs: admission, context_piece, ground.mention, ground.segment, types said_assertion and said_certainty
-- mention: where it begins, which identifies it in its note, since mentions do not overlap. The table has numbers and
--   one short text only, because its rows are sorted twice and read many times. Source: docs/definitions.md#mention
create or replace temp table mention_concept as
with candidate as (
    select
        admission.number,
        admission.hadm_id,
        mention.begin_offset,
        mention.end_offset,
        mention.assertion::said_assertion as assertion,
        mention.certainty::said_certainty as certainty,
        len(mention.cuis)::integer as n_candidates,
        unnest(mention.cuis) as cui,
        generate_subscripts(mention.cuis, 1)::integer as position
    from ground.mention as mention
    inner join admission on mention.note_id = admission.note_id
),

placed as (
    select
        candidate.*,
        piece.number is not null as in_context
    from candidate
    left join context_piece as piece
        on
            candidate.number = piece.number
            and candidate.begin_offset >= piece.begin_offset and candidate.end_offset <= piece.end_offset
),

part as (
    select
        admission.number,
        segment.begin_offset,
        segment.block,
        segment.kind = 'heading' as is_heading
    from ground.segment as segment
    inner join admission on segment.note_id = admission.note_id
)

select
    placed.number,
    placed.hadm_id,
    placed.begin_offset as mention,
    placed.assertion,
    placed.certainty,
    placed.cui,
    placed.position,
    placed.n_candidates,
    placed.in_context,
    part.begin_offset as segment,
    part.block,
    coalesce(part.is_heading, false) as in_heading
from placed
asof left join part
    on placed.number = part.number and placed.begin_offset >= part.begin_offset
-- by admission, so that a shard reads its own part only
order by placed.number;
