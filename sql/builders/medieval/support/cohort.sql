-- Admissions of the dataset: one per patient, with its note and its split
-- Grain: one row per patient who has a discharge summary
-- Output: cohort(subject_id, hadm_id, note_id, split). Inputs: mimiciv_note.discharge, ground.section
-- Parameters: seed. The admission with the lowest hash is kept, so that no other patient changes the choice; splits are
--   80/10/10 by a hash of the patient alone
-- Source: MediEval section 4.1 (one admission per patient, 80/10/10); docs/definitions.md#cohort
create or replace temp table cohort as
with notes as (
    select
        subject_id,
        hadm_id,
        arg_max(note_id, (note_seq, note_id)) as note_id
    from mimiciv_note.discharge
    where hadm_id is not null
    group by subject_id, hadm_id
),

ranked as (
    select
        *,
        row_number() over (
            partition by subject_id
            order by md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'admission', hadm_id)), hadm_id
        ) as choice,
        md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'split', subject_id)) % 10 as tenth
    from notes
)

select
    subject_id,
    hadm_id,
    note_id,
    case when tenth < 8 then 'train' when tenth = 8 then 'validation' else 'test' end as split
from ranked
where choice = 1
order by subject_id;
