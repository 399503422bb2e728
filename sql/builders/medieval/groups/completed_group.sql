-- Groups of some admissions that have a candidate for every quadrant, one argument per fact
-- Grain: one row per admission and fact. Output: completed_group(number, frame, draw), added to
-- Inputs: complete(number, frame), admission, frame, usable_fact. Parameters: seed, first_number, last_number
insert into completed_group
with named as (
    select
        completed.number,
        completed.frame,
        frame.fact,
        concat(admission.hadm_id, '-', fact.key) as fact_id,
        left(frame.slot, 1) as slot
    from complete as completed
    inner join admission on completed.number = admission.number
    inner join frame on completed.frame = frame.frame
    inner join usable_fact as fact on frame.fact = fact.fact
    where completed.number between getvariable('first_number') and getvariable('last_number')
)

select
    number,
    frame,
    unit(concat_ws(chr(31), 'limit', fact_id)) as draw
from named
qualify
    row_number() over (
        partition by number, fact
        order by unit(concat_ws(chr(31), 'slot', concat(fact_id, '-', slot))), slot
    ) = 1;
