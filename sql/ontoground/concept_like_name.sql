-- Concepts with a name that begins with the given words, the shortest first
-- Grain: one row per concept, at most five
-- Inputs: kg.name; variable wanted
-- Output: suggestions for the verbs of `ontoground graph`. Source: sql/kg/name.sql (the same normalisation)
-- Concepts whose name is the same are told apart by what the release prefers to call them
with named as (
    select
        cui,
        arg_min(name, lpad(length(name)::varchar, 6, '0') || name) as name,
        min(length(name)) as size
    from kg.name
    where
        starts_with(normalized, trim(regexp_replace(lower(getvariable('wanted')), '[^\p{L}\p{N}]+', ' ', 'g')))
        -- Every name begins with no letter.
        and regexp_matches(getvariable('wanted'), '[\p{L}\p{N}]')
    group by cui
    order by size, cui
    limit 5
)

select
    named.cui,
    named.name
    || if(count(*) over (partition by lower(named.name)) > 1, ' (' || concept.name || ')', '') as name
from named
inner join kg.concept as concept on named.cui = concept.cui
order by named.size, named.cui
