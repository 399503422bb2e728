-- Rows of a table that cannot be: admissions that end before they begin, notes of another patient or of no admission
-- Grain: one row per refused row. Inputs: the table as the view table_row(row, id, subject_id, hadm_id),
--   mimiciv_hosp.admissions
-- Output: row, id (what tells it from others, never its text), reason. A radiology report may name no admission
-- Source: docs/definitions.md#warehouse
select
    table_row.row,
    table_row.id,
    case
        when stay.hadm_id is null then 'there is no such admission'
        when stay.subject_id <> table_row.subject_id then 'the admission is another patient''s'
        else 'the admission ends before it begins'
    end as reason
from table_row
left join mimiciv_hosp.admissions as stay on table_row.hadm_id = stay.hadm_id
where
    table_row.hadm_id is not null
    and (stay.hadm_id is null or stay.subject_id <> table_row.subject_id or stay.dischtime < stay.admittime)
