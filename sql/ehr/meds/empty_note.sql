-- Notes of a MEDS dataset without text
-- Grain: one row per event: file, line (row in its file), reason, raw (its code). Inputs: meds_row, meds_note_place
-- Source: MEDS 0.4: free-text notes are text_value
select
    meds_row.filename as file,
    meds_row.file_row_number + 1 as line,
    'a note without text' as reason,
    meds_row.code as raw
from meds_row
inner join meds_note_place as place
    on meds_row.filename = place.filename and meds_row.file_row_number = place.file_row_number
where trim(coalesce(meds_row.text_value, '')) = ''
order by meds_row.filename, meds_row.file_row_number
