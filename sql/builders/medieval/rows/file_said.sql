-- What the statements of one file say
-- Grain: one row per statement, in the order of their numbers. Inputs: said_row, placed_row
-- Parameters: split, first_place, last_place
select said_row.*
from said_row
semi join (
    select said
    from placed_row
    where split = getvariable('split') and place between getvariable('first_place') and getvariable('last_place')
) as placed on said_row.said = placed.said
order by said_row.said;
