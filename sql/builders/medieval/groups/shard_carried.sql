-- Ends of facts that the notes of some admissions mention, in whatever form
-- Grain: one row per admission and concept. Output: (number, code)
-- Inputs: mention_concept, near_end. Parameters: first_number, last_number
select distinct
    mention_concept.number,
    near_end.code
from mention_concept
inner join near_end on mention_concept.cui = near_end.cui
where
    near_end.is_same
    and mention_concept.number between getvariable('first_number') and getvariable('last_number')
order by all;
