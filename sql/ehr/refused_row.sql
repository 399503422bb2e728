-- Rows of a table that cannot be: of nobody, of an admission that is not there or another patient's, admissions that
--   end before they begin, rows that say nothing
-- Grain: one row per refused row. Output: refused_row(row, id, reason); id: what tells it from others, never its text
-- Inputs: the table as the view table_row(row, id, patient, stay, starts, ends, content), and the views
--   known_patient(patient) and known_stay(stay, patient). Source: docs/definitions.md#warehouse
create or replace temp table refused_row as
with judged as (
    select
        table_row.row,
        table_row.id,
        case
            when table_row.patient is null then 'no patient is named'
            when known_patient.patient is null then 'there is no such patient'
            when table_row.ends < table_row.starts then 'the admission ends before it begins'
            when table_row.stay is not null and known_stay.stay is null then 'there is no such admission'
            when known_stay.patient <> table_row.patient then 'the admission is another patient''s'
            when trim(table_row.content) = '' then 'it says nothing'
        end as reason
    from table_row
    left join known_patient on table_row.patient = known_patient.patient
    left join known_stay on table_row.stay = known_stay.stay
)

select * from judged
where reason is not null;
