-- Concepts with a name that is spelt nearly as the given one, the nearest first
-- Grain: one row per concept, at most five
-- Inputs: kg.name; variable wanted
-- Output: suggestions for the verbs of `ontoground graph`. Source: sql/kg/name.sql (the same normalisation)
-- Concepts whose name is the same are told apart by what the release prefers to call them
-- Nearly: one letter is other, more, less or swapped, two in names of eight letters or more; the first is right
with asked as (
    select trim(regexp_replace(lower(getvariable('wanted')), '[^\p{L}\p{N}]+', ' ', 'g')) as word
),

near as (
    select
        atom.cui,
        atom.name,
        damerau_levenshtein(atom.normalized, asked.word) as steps
    from kg.name as atom
    cross join asked
    where
        atom.normalized[1] = asked.word[1]
        and length(atom.normalized) between length(asked.word) - 2 and length(asked.word) + 2
        and damerau_levenshtein(atom.normalized, asked.word) <= if(length(asked.word) < 8, 1, 2)
),

named as (
    select
        cui,
        arg_min(name, lpad(length(name)::varchar, 6, '0') || name) as name,
        min(steps) as steps,
        min(length(name)) as size
    from near
    group by cui
    order by steps, size, cui
    limit 5
)

select
    named.cui,
    named.name
    || if(count(*) over (partition by lower(named.name)) > 1, ' (' || concept.name || ')', '') as name
from named
inner join kg.concept as concept on named.cui = concept.cui
order by named.steps, named.size, named.cui
