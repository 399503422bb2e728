-- Concepts with a name that is spelt nearly as the given one, the nearest first
-- Grain: one row per concept, at most five
-- Inputs: kg.name; variable wanted
-- Output: suggestions for the verbs of `ontoground graph`. Source: sql/kg/name.sql (the same normalisation)
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
)

select
    cui,
    arg_min(name, lpad(length(name)::varchar, 6, '0') || name) as name
from near
group by cui
order by min(steps), min(length(name)), cui
limit 5
