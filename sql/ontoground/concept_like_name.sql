-- Concepts with a name that begins with the given words, the shortest first
-- Grain: one row per concept, at most five
-- Inputs: kg.name; variable wanted
-- Output: suggestions for the verbs of `ontoground graph`. Source: sql/kg/name.sql (the same normalisation)
select
    cui,
    arg_min(name, lpad(length(name)::varchar, 6, '0') || name) as name
from kg.name
where starts_with(normalized, trim(regexp_replace(lower(getvariable('wanted')), '[^\p{L}\p{N}]+', ' ', 'g')))
group by cui
order by min(length(name)), cui
limit 5
