-- The contexts of some patients: the chosen sections of each note, in their order
-- Grain: one row per admission. Output: (subject_id, context), in the order of patients
-- Inputs: context_piece, cohort, mimiciv_note.discharge, file_patient(subject_id; several times or once). Parameters:
--   first_patient, last_patient (of these). Texts of other patients between them are never held
with piece as (
    select
        cohort.subject_id,
        context_piece.note_id,
        context_piece.begin_offset,
        context_piece.end_offset
    from context_piece
    inner join cohort on context_piece.hadm_id = cohort.hadm_id
    semi join file_patient on cohort.subject_id = file_patient.subject_id
),

note as (
    select
        discharge.note_id,
        discharge.text
    from mimiciv_note.discharge as discharge
    semi join file_patient on discharge.subject_id = file_patient.subject_id
    where discharge.subject_id between getvariable('first_patient') and getvariable('last_patient')
)

select
    piece.subject_id,
    string_agg(
        rtrim(substr(note.text, piece.begin_offset + 1, piece.end_offset - piece.begin_offset)), chr(10)
        order by piece.begin_offset
    ) as context
from piece
inner join note on piece.note_id = note.note_id
group by piece.subject_id
order by piece.subject_id;
