-- Tables of the warehouse with how many columns each has
-- Grain: one row per table
-- Inputs: DuckDB's catalogue
-- Output: rows for the first page of `ontoground explore`. Source: docs/definitions.md#warehouse
select
    schema_name || '.' || table_name as name,
    column_count as n_columns
from duckdb_tables()
where database_name = current_database() and not temporary
order by schema_name, table_name
