-- The contexts of some patients: the chosen sections of each note, in their order
-- Grain: one row per admission. Output: (subject_id, context), in the order of patients
-- Inputs: context_piece, cohort, ehr.discharge_note, file_patient(subject_id; several times or once). Parameters:
--   first_patient, last_patient (of these). Texts of other patients between them are never held
with note as (
    select
        discharge.note_id,
        discharge.text
    from ehr.discharge_note as discharge
    semi join file_patient on discharge.subject_id = file_patient.subject_id
    where discharge.subject_id between getvariable('first_patient') and getvariable('last_patient')
)

select
    cohort.subject_id,
    string_agg(
        rtrim(substr(note.text, piece.begin_offset + 1, piece.end_offset - piece.begin_offset)), chr(10)
        order by piece.begin_offset
    ) as context
from context_piece as piece
inner join cohort on piece.hadm_id = cohort.hadm_id
inner join note on piece.note_id = note.note_id
semi join file_patient on cohort.subject_id = file_patient.subject_id
group by cohort.subject_id
order by cohort.subject_id;
