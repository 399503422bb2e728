-- Concepts that bear exactly this name, letter case and punctuation aside
-- Grain: one row per concept
-- Inputs: kg.name, kg.concept; variable wanted
-- Output: rows for the verbs of `ontoground graph`. Source: sql/kg/name.sql (the same normalisation)
select distinct
    concept.cui,
    concept.name,
    array_to_string(concept.groups, ' ') as semantic_groups
from kg.name as atom
inner join kg.concept as concept on atom.cui = concept.cui
where atom.normalized = trim(regexp_replace(lower(getvariable('wanted')), '[^\p{L}\p{N}]+', ' ', 'g'))
order by concept.cui
