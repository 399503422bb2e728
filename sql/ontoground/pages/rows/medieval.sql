-- Statements that have the chosen values, in the order of their identifiers
-- Grain: one row of the configuration; 50 from the given one on; n_chosen: all that have the values
-- Inputs: variables dataset (name of the view of a configuration), one for each filter (null: any), words, first_row
-- Output: the list of statements of `ontoground explore`. Source: docs/medieval.md
with every as (
    select * from query_table(getvariable('dataset'))
    union all by name
    select null::struct(assertion varchar)[] as denied_spans
    where false
)

select
    id,
    statement,
    quadrant,
    predicate,
    tier,
    hops,
    support_level,
    coalesce(denied_spans[1].assertion, 'none') as denied,
    split,
    count(*) over () as n_chosen
from every
where
    (getvariable('quadrant') is null or quadrant = getvariable('quadrant')::varchar)
    and (getvariable('predicate') is null or predicate = getvariable('predicate')::varchar)
    and (getvariable('tier') is null or coalesce(tier, 'none') = getvariable('tier')::varchar)
    and (getvariable('hops') is null or hops::varchar = getvariable('hops')::varchar)
    and (getvariable('support_level') is null or support_level = getvariable('support_level')::varchar)
    and (getvariable('denied') is null or coalesce(denied_spans[1].assertion, 'none') = getvariable('denied')::varchar)
    and (getvariable('split') is null or split = getvariable('split')::varchar)
    and (getvariable('words') is null or contains(lower(statement), lower(getvariable('words')::varchar)))
order by id
limit 50 offset getvariable('first_row')
