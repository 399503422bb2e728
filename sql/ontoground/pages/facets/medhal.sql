-- Values of the columns by which rows of medhal are chosen, with how many rows have each
-- Grain: one row per (column, value)
-- Inputs: medhal (view of the built dataset)
-- Output: filters of the statements of `ontoground explore`. Source: docs/medhal.md
with facet as (
    unpivot (
        select
            label::varchar as label,
            source,
            task,
            synthetic::varchar as synthetic,
            split
        from medhal
    )
    on label, source, task, synthetic, split
    into name facet value choice
)

select
    facet,
    choice,
    count(*) as n
from facet
group by facet, choice
order by facet asc, choice asc
