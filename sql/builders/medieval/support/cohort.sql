-- Admissions of the dataset: one per patient, with its note and its split
-- Grain: one row per patient who has a discharge summary
-- Output: cohort(subject_id, hadm_id, note_id, split, fold). Inputs: ehr.discharge_note, ground.section
-- Parameters: seed, train_end, validation_end (of a thousand patients), folds. The admission with the lowest hash is
--   kept, so that no other patient changes the choice; split (80/10/10 by default) and fold go by hashes of the patient
--   alone, which know nothing of one another
-- Source: MediEval section 4.1 (one admission per patient, 80/10/10); docs/definitions.md#cohort
create or replace temp table cohort as
with notes as (
    select
        subject_id,
        hadm_id,
        arg_max(note_id, (seq_num, note_id)) as note_id
    from ehr.discharge_note
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
        md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'split', subject_id)) as lot,
        md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'fold', subject_id)) as fold_lot
    from notes
),

dealt as (
    select
        *,
        -- the first digit decides alone where shares are tenths
        lot % 10 * 100 + lot // 10 % 100 as rank
    from ranked
    where choice = 1
)

select
    subject_id,
    hadm_id,
    note_id,
    case
        when rank < getvariable('train_end') then 'train'
        when rank < getvariable('validation_end') then 'validation'
        else 'test'
    end as split,
    (fold_lot % getvariable('folds'))::integer as fold
from dealt
order by subject_id;
