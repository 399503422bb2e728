-- The rows of one file, by their numbers
-- Grain: one row per group and quadrant, in the order of the file. Inputs: placed_row, fact_group, cohort
-- Parameters: split, first_row, last_row
select
    placed_row.subject_id,
    placed_row.hadm_id,
    fact_group.group_id,
    placed_row.quadrant,
    placed_row.proposition,
    placed_row.head_span,
    placed_row.tail_span,
    placed_row.linked,
    placed_row.split,
    placed_row.fact_split,
    cohort.fold
from placed_row
inner join cohort on placed_row.subject_id = cohort.subject_id
inner join fact_group on placed_row.group_no = fact_group.group_no
where
    placed_row.split = getvariable('split')
    and placed_row.row_no between getvariable('first_row') and getvariable('last_row')
order by placed_row.row_no;
