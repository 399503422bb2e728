-- Values of the columns by which rows of the contradicted configuration are chosen, with how many rows have each
-- Grain: one row per (column, value)
-- Inputs: medieval_contradicted (view of the built dataset)
-- Output: filters of the statements of `ontoground explore`. Source: docs/medieval.md
with facet as (
    unpivot (
        select
            quadrant,
            predicate,
            coalesce(tier, 'none') as tier,
            hops::varchar as hops,
            support_level,
            coalesce(denied_spans[1].assertion, 'none') as denied,
            split
        from medieval_contradicted
    )
    on quadrant, predicate, tier, hops, support_level, denied, split
    into name facet value choice
)

select
    facet,
    choice,
    count(*) as n
from facet
group by facet, choice
order by facet asc, choice asc
