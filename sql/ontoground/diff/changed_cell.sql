-- Columns in which rows of two builds differ
-- Grain: one row per changed row and column that both builds have
-- Inputs: changed_row, before_row, after_row
-- Output: changed_cell(id, column_name). Source: docs/medieval.md#checking
create or replace temp table changed_cell as
with hashed as (
    select
        id,
        hash(columns(* exclude (id)))
    from (
        select * from before_row
        union all by name
        select * from after_row
    ) as either
    where
        id in (
            select changed_row.id from changed_row
            where changed_row.change = 'changed'
        )
),

cell as (
    unpivot hashed on columns(* exclude (id)) into name column_name value digest
)

select
    id,
    column_name
from cell
group by id, column_name
having count(distinct digest) > 1;
