-- Admissions numbered in the order of their patients, as notes and what they mention are stored
-- Grain: one row per admission of the cohort
-- Output: admission(hadm_id, note_id, number); admission_fact, empty. Inputs: cohort
create or replace temp table admission as
select
    hadm_id,
    note_id,
    (row_number() over (order by subject_id, hadm_id) - 1)::integer as number
from cohort;

create or replace temp table admission_fact (hadm_id bigint, number bigint, fact bigint);
