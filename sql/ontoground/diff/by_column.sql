-- How many rows differ in each column
-- Grain: one row per column that differs anywhere
-- Inputs: changed_cell
-- Output: rows for `ontoground diff`. Source: docs/medieval.md#checking
select
    column_name,
    count(*) as n
from changed_cell
group by column_name
order by n desc, column_name asc
