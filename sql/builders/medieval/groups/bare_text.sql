-- The whole text of all notes of one kind, of one part of the admissions
-- Grain: one row per text. Output: (number, text), in no order
-- Inputs: bare_admission, ehr.note. Parameters: kind, part, first_patient, last_patient (of the part)
select
    wanted.number,
    note.text
from ehr.note as note
inner join bare_admission as wanted on note.hadm_id = wanted.hadm_id
where
    note.kind = getvariable('kind') and wanted.part = getvariable('part') and note.text is not null
    -- notes lie in the order of patients, so that a part reads its own only
    and note.subject_id between getvariable('first_patient') and getvariable('last_patient')
