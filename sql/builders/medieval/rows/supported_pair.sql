-- Pairs of ends that supported statements of some admissions have
-- Grain: one row per admission and ordered pair. Output: supported_pair(hadm_id, head_code, tail_code)
-- Inputs: statement, admission. Parameters: first_number, last_number (of the admissions)
create or replace temp table supported_pair as
select distinct
    statement.hadm_id,
    statement.head_code,
    statement.tail_code
from statement
inner join admission on statement.hadm_id = admission.hadm_id
where
    statement.quadrant in ('Q1', 'Q3')
    and admission.number between getvariable('first_number') and getvariable('last_number');
