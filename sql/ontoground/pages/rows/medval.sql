-- Outputs at known risk levels that have the chosen values, in the order of their identifiers
-- Grain: one row of medval; 50 from the given one on; n_chosen: all that have the values
-- Inputs: medval (view of the built dataset); a variable for each filter (null: any), words, first_row
-- Output: the list of statements of `ontoground explore`. Source: docs/medval.md
select
    id,
    left(output, 300) as output,
    risk_level,
    variant,
    task,
    split,
    count(*) over () as n_chosen
from medval
where
    (getvariable('risk_level') is null or risk_level::varchar = getvariable('risk_level')::varchar)
    and (getvariable('variant') is null or variant = getvariable('variant')::varchar)
    and (getvariable('task') is null or task = getvariable('task')::varchar)
    and (getvariable('source') is null or source = getvariable('source')::varchar)
    and (getvariable('engine') is null or engine = getvariable('engine')::varchar)
    and (getvariable('split') is null or split = getvariable('split')::varchar)
    and (getvariable('words') is null or contains(lower(output), lower(getvariable('words')::varchar)))
order by id
limit 50 offset getvariable('first_row')
