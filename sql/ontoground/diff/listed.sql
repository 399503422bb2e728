-- Every row that is not the same, with the columns in which it differs
-- Grain: one row per identifier
-- Inputs: changed_row, changed_cell
-- Output: the file of `ontoground diff --output`. Source: docs/medieval.md#checking
select
    changed_row.id,
    changed_row.change,
    changed_row.split,
    coalesce(string_agg(changed_cell.column_name, ' ' order by changed_cell.column_name), '') as changed_columns
from changed_row
left join changed_cell on changed_row.id = changed_cell.id
group by all
order by changed_row.id
