-- Rows of OMOP that cannot be: of nobody, of a visit that is not there or another person's, visits that end before they
--   begin, notes without text
-- Grain: one row per refused row of the table named by the variable load_table (schema.table)
-- Inputs: that table as the view table_row(row, id, person_id, visit_id, starts, ends, content), omop.person,
--   omop.visit_occurrence
-- Output: row, id, reason. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html (foreign keys)
with judged as (
    select
        table_row.row,
        table_row.id,
        case
            when table_row.person_id is null then 'there is no person_id'
            when person.person_id is null then 'there is no such person'
            when table_row.ends < table_row.starts then 'the visit ends before it begins'
            when table_row.visit_id is not null and visit.visit_occurrence_id is null then 'there is no such visit'
            when visit.person_id != table_row.person_id then 'the visit is another person''s'
            when trim(table_row.content) = '' then 'there is no text'
        end as reason
    from table_row
    left join omop.person as person on table_row.person_id = person.person_id
    left join omop.visit_occurrence as visit on table_row.visit_id = visit.visit_occurrence_id
)

select * from judged
where reason is not null
