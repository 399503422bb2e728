-- Discharge notes with the sections that MedVAL reads, and the mentions in them
-- Grain: one row per note of a range that has a hospital course, in the order of note_id
-- Output: note_id, subject_id, text, parts list<struct<section, header, begin_offset, end_offset>>,
--   mentions list<struct<begin_offset, end_offset, cuis, assertion>>; offsets in code points of the note
-- Inputs: ehr.discharge_note, ground.section, ground.mention. Parameters: low, high (the range of note_id)
-- Source: MedVAL, Table 2 (brief hospital courses); docs/definitions.md#mention
with part as (
    select
        note_id,
        list(
            struct_pack(
                section := section, header := header, begin_offset := begin_offset, end_offset := end_offset
            ) order by begin_offset
        ) as parts
    from ground.section
    where
        note_id between getvariable('low') and getvariable('high')
        and section in ('brief_hospital_course', 'discharge_diagnosis', 'discharge_medications')
    group by note_id
    having count(*) filter (where section = 'brief_hospital_course') > 0
),

mention as (
    select
        note_id,
        list(
            struct_pack(
                begin_offset := begin_offset, end_offset := end_offset, cuis := cuis, assertion := assertion
            ) order by begin_offset, end_offset
        ) as mentions
    from ground.mention
    where
        note_id between getvariable('low') and getvariable('high')
        and section in ('brief_hospital_course', 'discharge_diagnosis', 'discharge_medications')
    group by note_id
)

select
    note.note_id,
    note.subject_id,
    note.text,
    part.parts,
    coalesce(mention.mentions, []) as mentions
from ehr.discharge_note as note
inner join part on note.note_id = part.note_id
left join mention on note.note_id = mention.note_id
where note.note_id between getvariable('low') and getvariable('high')
order by note.note_id;
