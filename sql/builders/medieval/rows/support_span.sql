-- The mentions that rows of the dataset may show, numbered by split and patient
-- Grain: one row per admission and mention
-- Output: support_span(span, split, subject_id, hadm_id, mention, begin_offset, end_offset, text, section, given)
-- Inputs: support_pair, support_closest, cohort, ground.mention
create or replace temp table support_span as
with shown as (
    select
        hadm_id,
        unnest([head_mention, tail_mention]) as mention
    from support_pair
    union
    select
        hadm_id,
        mention
    from support_closest
)

select
    row_number() over (order by cohort.split, cohort.subject_id, shown.mention) - 1 as span,
    cohort.split,
    cohort.subject_id,
    shown.hadm_id,
    shown.mention,
    shown.mention::integer as begin_offset,
    mention.end_offset,
    mention.text,
    mention.section,
    mention.assertion = 'given' as given
from shown
inner join cohort on shown.hadm_id = cohort.hadm_id
inner join ground.mention as mention on cohort.note_id = mention.note_id and shown.mention = mention.begin_offset
order by span;
