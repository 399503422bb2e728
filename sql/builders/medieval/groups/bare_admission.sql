-- The admissions whose notes are looked through for names, in parts of neighbouring patients
-- Grain: one row per admission that has facts. Output: bare_admission(part, subject_id, hadm_id, number)
-- Inputs: cohort, admission, admission_fact. Parameter: part_size, patients in a part
create or replace temp table bare_admission as
select
    (row_number() over (order by cohort.subject_id) - 1) // getvariable('part_size') as part,
    cohort.subject_id,
    cohort.hadm_id,
    admission.number
from cohort
inner join admission on cohort.hadm_id = admission.hadm_id
where admission.number in (select admission_fact.number from admission_fact);
