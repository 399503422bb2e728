-- Values of the columns by which rows of medval are chosen, with how many rows have each
-- Grain: one row per (column, value)
-- Inputs: medval (view of the built dataset)
-- Output: filters of the statements of `ontoground explore`. Source: docs/medval.md
with facet as (
    unpivot (
        select
            risk_level::varchar as risk_level,
            variant,
            task,
            source,
            engine,
            split
        from medval
    )
    on risk_level, variant, task, source, engine, split
    into name facet value choice
)

select
    facet,
    choice,
    count(*) as n
from facet
group by facet, choice
order by facet asc, choice asc
