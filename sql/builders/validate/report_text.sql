-- The words of all radiology reports of the admissions of one lot
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per text. Output: bare_text(text_id, hadm_id, words), words with a blank before and behind
-- Inputs: silent_end, mimiciv_note.radiology. Parameters: lot, first_patient, last_patient
create or replace temp table bare_text as
select
    note.note_id as text_id,
    note.hadm_id,
    ' ' || words_of(note.text) || ' ' as words
from mimiciv_note.radiology as note
where
    note.subject_id between getvariable('first_patient') and getvariable('last_patient')
    and note.hadm_id in (
        select silent_end.hadm_id from silent_end
        where silent_end.lot = getvariable('lot')
    );
