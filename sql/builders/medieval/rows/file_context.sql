-- The contexts of one file: the chosen sections of each note, in their order
-- Grain: one row per admission. Output: (subject_id, context), in the order of patients
-- Inputs: context_piece, cohort, mimiciv_note.discharge. Parameters: split, first_patient, last_patient
with piece as (
    select
        cohort.subject_id,
        context_piece.note_id,
        context_piece.begin_offset,
        context_piece.end_offset
    from context_piece
    inner join cohort on context_piece.hadm_id = cohort.hadm_id
    where
        cohort.split = getvariable('split')
        and cohort.subject_id between getvariable('first_patient') and getvariable('last_patient')
)

select
    piece.subject_id,
    string_agg(
        rtrim(substr(note.text, piece.begin_offset + 1, piece.end_offset - piece.begin_offset)), chr(10)
        order by piece.begin_offset
    ) as context
from piece
inner join mimiciv_note.discharge as note on piece.note_id = note.note_id
where note.subject_id between getvariable('first_patient') and getvariable('last_patient')
group by piece.subject_id
order by piece.subject_id;
