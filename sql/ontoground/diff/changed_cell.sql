-- Columns in which rows of two builds differ
-- Grain: one row per changed row and column that both builds have
-- Inputs: changed_row, before_row, after_row
-- Output: changed_cell(id, column_name). Source: docs/medieval.md#checking
create or replace temp table changed_cell as
with changed as (
    select id
    from changed_row
    where change = 'changed'
),

before_hash as (
    select
        id,
        hash(columns(* exclude (id)))
    from before_row
    where id in (select changed.id from changed)
),

after_hash as (
    select
        id,
        hash(columns(* exclude (id)))
    from after_row
    where id in (select changed.id from changed)
),

before_cell as (
    unpivot before_hash on columns(* exclude (id)) into name column_name value digest
),

after_cell as (
    unpivot after_hash on columns(* exclude (id)) into name column_name value digest
)

select
    before_cell.id,
    before_cell.column_name
from before_cell
inner join after_cell on before_cell.id = after_cell.id and before_cell.column_name = after_cell.column_name
where before_cell.digest <> after_cell.digest;
