-- What the notes hold where a row's spans say that a mention stands
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per row and role
-- Output: steward_span_text(uid, role, found, section, before, after): found is the text at the offsets, section the
--   one that they lie in, before and after what stands round them
-- Inputs: steward_span(uid, role, hadm_id, begin_offset, end_offset), mimiciv_note.discharge, ground.section.
--   Offsets are half-open, in code points (docs/definitions.md#mention)
create or replace temp table steward_span_text as
select
    span.uid,
    span.role,
    substr(note.text, span.begin_offset + 1, span.end_offset - span.begin_offset) as found,
    section.section,
    substr(note.text, greatest(span.begin_offset - 119, 1), least(span.begin_offset, 120)) as before,
    substr(note.text, span.end_offset + 1, 80) as after
from steward_span as span
inner join mimiciv_note.discharge as note on span.hadm_id = note.hadm_id
left join ground.section as section
    on
        note.note_id = section.note_id and span.begin_offset >= section.begin_offset
        and span.end_offset <= section.end_offset;
