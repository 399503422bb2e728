-- The context of some admissions: the chosen sections of the note, in their order
-- Grain: one row per admission. Output: context(hadm_id, context)
-- Inputs: context_piece, mimiciv_note.discharge, statement. Parameters: first_patient, last_patient
create or replace temp table context as
select
    piece.hadm_id,
    string_agg(
        rtrim(substr(note.text, piece.begin_offset + 1, piece.end_offset - piece.begin_offset)), chr(10)
        order by piece.begin_offset
    ) as context
from context_piece as piece
inner join mimiciv_note.discharge as note on piece.note_id = note.note_id
where
    note.subject_id between getvariable('first_patient') and getvariable('last_patient')
    and piece.hadm_id in (select statement.hadm_id from statement)
group by piece.hadm_id;
