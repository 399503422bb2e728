-- The mentions that the rows of one file may show
-- Grain: one row per admission and mention, in the order of their numbers. Inputs: support_span
-- Parameters: split, first_patient, last_patient
select
    span,
    begin_offset,
    end_offset,
    text,
    section,
    given
from support_span
where
    split = getvariable('split')
    and subject_id between getvariable('first_patient') and getvariable('last_patient')
order by span;
