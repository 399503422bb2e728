-- Statements that the notes of some admissions contradict: they attest one end and deny the other
-- Grain: one row per admission and unordered pair of ends. Output: contradiction(number, wording, role), added to
-- Inputs: denial, named_end, wording, admission. Parameters: seed, first_number, last_number
-- Of statements about the same two ends, the one with the lowest hash stays
insert into contradiction
select
    denial.number,
    wording.wording,
    wording.role
from denial
inner join admission on denial.number = admission.number
inner join wording on denial.code = wording.denied
inner join named_end on denial.number = named_end.number and wording.kept = named_end.code
where
    denial.reason is null
    and denial.number between getvariable('first_number') and getvariable('last_number')
    and named_end.number between getvariable('first_number') and getvariable('last_number')
qualify
    row_number() over (
        partition by denial.number, least(wording.denied, wording.kept), greatest(wording.denied, wording.kept)
        order by unit(concat_ws(chr(31), 'contradiction', admission.hadm_id, wording.statement)), wording.wording
    ) = 1;
