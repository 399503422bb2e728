-- Notes of a MEDS dataset
-- Grain: one row per note. Output: meds.note(note_id, subject_id, time, code, hadm_id, joined, text_value)
-- Inputs: meds_row, meds_note_place
-- Source: MEDS 0.4: free-text notes are text_value
create or replace table meds.note as
select
    place.note_id,
    meds_row.subject_id,
    meds_row.time,
    meds_row.code,
    place.hadm_id,
    place.joined,
    meds_row.text_value
from meds_row
inner join meds_note_place as place
    on meds_row.filename = place.filename and meds_row.file_row_number = place.file_row_number
where not regexp_full_match(coalesce(meds_row.text_value, ''), '\s*');
