-- Events of a MEDS dataset that cannot be used: of no patient, or without a code
-- Grain: one row per event: file, line (row in its file), reason, raw (its code). Inputs: meds_row
-- Source: MEDS 0.4: subject_id and code should not be null
select
    filename as file,
    file_row_number + 1 as line,
    if(subject_id is null, 'no subject_id', 'no code') as reason,
    coalesce(code, '') as raw
from meds_row
where subject_id is null or code is null
order by filename, file_row_number
