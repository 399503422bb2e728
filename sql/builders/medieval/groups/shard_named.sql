-- Names found in the bare text of some admissions
-- Grain: one row per admission and name. Output: (number, name). Inputs: named. Parameters: first_number, last_number
select
    number,
    name
from named
where
    number between getvariable('first_number') and getvariable('last_number')
order by number, name
