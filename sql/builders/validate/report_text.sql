-- Texts of all radiology reports of the admissions that rows call something unsupported in
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per text. Columns: hadm_id, text in small letters without accents
-- Inputs: silent_end, mimiciv_note.radiology. Parameters: first_patient, last_patient (of the part)
select
    note.hadm_id,
    lower(strip_accents(note.text)) as text
from mimiciv_note.radiology as note
where
    note.subject_id between getvariable('first_patient') and getvariable('last_patient')
    and note.hadm_id in (select silent_end.hadm_id from silent_end);
