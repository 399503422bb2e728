-- Factual and non-factual statements that have the chosen values, in the order of their identifiers
-- Grain: one row of medhal; 50 from the given one on; n_chosen: all that have the values
-- Inputs: medhal (view of the built dataset); a variable for each filter (null: any), words, first_row
-- Output: the list of statements of `ontoground explore`. Source: docs/medhal.md
select
    id,
    statement,
    label,
    source,
    task,
    split,
    count(*) over () as n_chosen
from medhal
where
    (getvariable('label') is null or label::varchar = getvariable('label')::varchar)
    and (getvariable('source') is null or source = getvariable('source')::varchar)
    and (getvariable('task') is null or task = getvariable('task')::varchar)
    and (getvariable('synthetic') is null or synthetic::varchar = getvariable('synthetic')::varchar)
    and (getvariable('split') is null or split = getvariable('split')::varchar)
    and (getvariable('words') is null or contains(lower(statement), lower(getvariable('words')::varchar)))
order by id
limit 50 offset getvariable('first_row')
