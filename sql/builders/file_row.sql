-- The rows of one file, by their numbers
-- Grain: one row per group and quadrant, in the order of the file. Inputs: placed_row
-- Parameters: split, first_place, last_place
select
    subject_id,
    hadm_id,
    group_id,
    quadrant,
    said,
    head_span,
    tail_span,
    linked,
    split,
    fact_split
from placed_row
where split = getvariable('split') and place between getvariable('first_place') and getvariable('last_place')
order by place;
