-- Texts of all discharge notes of some patients' admissions
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per text. Columns: hadm_id, text in small letters without accents. Inputs: part_note
select
    note.hadm_id,
    lower(strip_accents(note.text)) as text
from part_note as note;
