-- Events of a MEDS dataset that cannot be used: of no patient, without a code, or notes without text
-- Grain: one row per event: file, line (row in its file), reason, raw (its code). Inputs: meds_row, fitted
-- Source: MEDS 0.4: subject_id and code should not be null
select
    meds_row.filename as file,
    meds_row.file_row_number + 1 as line,
    case
        when meds_row.subject_id is null then 'no subject_id'
        when meds_row.code is null then 'no code'
        else 'a note without text'
    end as reason,
    coalesce(meds_row.code, '') as raw
from meds_row
left join fitted on meds_row.code = fitted.code
where
    meds_row.subject_id is null
    or meds_row.code is null
    or (fitted.kind = 'note' and regexp_full_match(coalesce(meds_row.text_value, ''), '\s*'))
order by meds_row.filename, meds_row.file_row_number
