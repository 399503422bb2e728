-- Values of the columns by which rows of a dataset are chosen, with how many rows have each
-- Grain: one row per (column, value)
-- Inputs: variables dataset (name of the view of a built dataset), facets (names of columns; denied: the assertion of
--   the first mention that denies an end)
-- Output: filters of the statements of `ontoground explore`. Source: docs/columns.md
with every as (
    select * from query_table(getvariable('dataset'))
    union all by name
    select
        null::struct(assertion varchar)[] as denied_spans,
        null::varchar as tier
    where false
),

told as (
    select
        * replace (coalesce(tier, 'none') as tier),
        coalesce(denied_spans[1].assertion, 'none') as denied
    from every
),

chosen as (
    select columns(name -> list_contains(getvariable('facets'), name))::varchar
    from told
),

facet as (
    unpivot chosen
    on columns(*)
    into name facet value choice
)

select
    facet,
    choice,
    count(*) as n
from facet
group by facet, choice
order by facet asc, choice asc
