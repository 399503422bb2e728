-- Discharge notes with their hospital course, for tasks that need no mentions
-- Grain: one row per note of a range that has a hospital course, in the order of note_id
-- Output: note_id, subject_id, text, parts list<struct<section, header, begin_offset, end_offset>>; offsets in code
--   points of the note
-- Inputs: ehr.discharge_note, ground.section. Parameters: low, high (the range of note_id)
-- Source: MedVAL, Table 2 (brief hospital courses)
with part as (
    select
        note_id,
        list(
            struct_pack(
                section := section, header := header, begin_offset := begin_offset, end_offset := end_offset
            ) order by begin_offset
        ) as parts
    from ground.section
    where section = 'brief_hospital_course' and note_id between getvariable('low') and getvariable('high')
    group by note_id
)

select
    note.note_id,
    note.subject_id,
    note.text,
    part.parts
from ehr.discharge_note as note
inner join part on note.note_id = part.note_id
where note.note_id between getvariable('low') and getvariable('high')
order by note.note_id;
