-- What the notes and contexts hold where a row's spans say that a mention stands
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per row and role
-- Output: span_text(id, role, begin_offset, shown, section, text, lies_in, in_context, before, after, other_sense):
--   text is the note's at the offsets, lies_in the section there, before and after what stands round it; other_sense:
--   the words are a name, and none of the end's. Words that are no name of the release are not held against a span
-- Inputs: labelled with contexts, meaning(cui, mentioned, attests), ehr.discharge_note, ground.section, kg.name.
--   Offsets are half-open, in code points (docs/definitions.md#mention)
create or replace temp table span_text as
with spanned as (
    select
        id,
        hadm_id,
        context,
        unnest(support_spans) as span
    from labelled
),

named as (
    select
        spanned.span.cui as cui,
        spanned.span.text as text,
        count(meaning.cui) = 0 as other_sense
    from (select distinct struct_pack(cui := span.cui, text := span.text) as span from spanned) as spanned
    inner join kg.name as name
        on trim(regexp_replace(lower(spanned.span.text), '[^\p{L}\p{N}]+', ' ', 'g')) = name.normalized
    left join meaning on spanned.span.cui = meaning.cui and name.cui = meaning.mentioned and meaning.attests
    group by all
)

select
    spanned.id,
    spanned.span.role as role,
    spanned.span.begin_offset as begin_offset,
    spanned.span.text as shown,
    spanned.span.section as section,
    substr(note.text, spanned.span.begin_offset + 1, spanned.span.end_offset - spanned.span.begin_offset) as text,
    part.section as lies_in,
    contains(regexp_replace(spanned.context, '\s+', ' ', 'g'), regexp_replace(spanned.span.text, '\s+', ' ', 'g'))
        as in_context,
    strip_accents(
        substr(note.text, greatest(spanned.span.begin_offset - 119, 1), least(spanned.span.begin_offset, 120))
    ) as before,
    strip_accents(substr(note.text, spanned.span.end_offset + 1, 80)) as after,
    coalesce(named.other_sense, false) as other_sense
from spanned
left join named on spanned.span.cui = named.cui and spanned.span.text = named.text
left join ehr.discharge_note as note on spanned.hadm_id = note.hadm_id
left join ground.section as part
    on
        note.note_id = part.note_id and spanned.span.begin_offset >= part.begin_offset
        and spanned.span.end_offset <= part.end_offset;
