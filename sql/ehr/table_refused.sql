-- Rows of a plain table that say nothing: notes without a patient or a text, codes of nobody or without code and name
-- Grain: one row per refused row of plain.notes or plain.codes, by the variable load_table (schema.table)
-- Inputs: that table as the view table_row(row, id, patient, admission, content). Output: row, id, reason
-- Source: docs/sources.md
select
    row,
    id,
    case
        when coalesce(patient, admission) is null then 'neither patient nor admission is named'
        when trim(coalesce(content, '')) = '' then 'there is no text, or neither code nor name'
        else 'a note without a patient'
    end as reason
from table_row
where
    coalesce(patient, admission) is null
    or trim(coalesce(content, '')) = ''
    or (patient is null and getvariable('load_table') = 'plain.notes')
