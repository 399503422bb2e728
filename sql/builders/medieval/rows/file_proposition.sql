-- What the statements of one file say
-- Grain: one row per statement, in the order of their numbers. Inputs: proposition_row, placed_row
-- Parameters: split, first_row, last_row
select proposition_row.*
from proposition_row
semi join (
    select proposition
    from placed_row
    where split = getvariable('split') and row_no between getvariable('first_row') and getvariable('last_row')
) as placed on proposition_row.proposition = placed.proposition
order by proposition_row.proposition;
