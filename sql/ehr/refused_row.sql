-- Rows of a table that cannot be: admissions that end before they begin, notes of another patient or of no admission
-- Grain: one row per refused row of the table named by the variable load_table (schema.table)
-- Inputs: that table with subject_id, hadm_id and the column refused_key, mimiciv_hosp.admissions
-- Output: key (what tells the row from others, never its text), reason. A radiology report may name no admission
-- Source: docs/definitions.md#warehouse
with candidate as (
    select
        subject_id,
        hadm_id,
        columns(c -> c = getvariable('refused_key')) as key
    from query_table(getvariable('load_table'))
)

select
    c.key::varchar as key,
    case
        when a.hadm_id is null then 'there is no such admission'
        when a.subject_id <> c.subject_id then 'the admission is another patient''s'
        else 'the admission ends before it begins'
    end as reason
from candidate as c
left join mimiciv_hosp.admissions as a on c.hadm_id = a.hadm_id
where
    c.hadm_id is not null
    and (a.hadm_id is null or a.subject_id <> c.subject_id or a.dischtime < a.admittime)
