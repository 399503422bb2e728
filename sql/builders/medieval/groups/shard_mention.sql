-- What the notes and the codes of some admissions may mean
-- Grain: one row per admission, concept and whether a code says so. Output: (number, concept, from_code)
-- Inputs: evidence. Parameters: first_number, last_number
select
    number,
    concept,
    from_code
from evidence
where
    number between getvariable('first_number') and getvariable('last_number')
order by number
