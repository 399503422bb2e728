-- One row of a dataset with those that it was made with
-- Grain: one row of the group, twenty at most; the wanted one first
-- Inputs: variables dataset (name of the view of a built dataset), together (columns that rows of a group share) and
--   wanted (an identifier)
-- Output: a row of the statements of `ontoground explore`. Source: docs/columns.md
with shared as (
    select columns(name -> list_contains(getvariable('together'), name))
    from query_table(getvariable('dataset'))
    where id = getvariable('wanted')
)

select *
from query_table(getvariable('dataset'))
natural inner join shared
order by id = getvariable('wanted') desc, id asc
limit 20
