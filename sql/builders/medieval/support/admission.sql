-- Admissions numbered in the order of their patients, as notes and what they mention are stored, and cut into shards
-- Grain: one row per admission of the cohort
-- Output: admission(hadm_id, note_id, number, shard); admission_fact, empty. Inputs: cohort. Parameter: shard_size
create or replace temp table admission as
with numbered as (
    select
        hadm_id,
        note_id,
        (row_number() over (order by subject_id, hadm_id) - 1)::integer as number
    from cohort
)

select
    *,
    number // getvariable('shard_size') as shard
from numbered;

create or replace temp table admission_fact (hadm_id bigint, number bigint, fact bigint);
