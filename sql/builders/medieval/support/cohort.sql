-- Admissions of the dataset: one per patient, with its note and its split
-- Grain: one row per patient who has a discharge summary, or per patient drawn of these
-- Output: cohort(subject_id, hadm_id, note_id, split, fold). Inputs: ehr.discharge_note, ehr.patient, ground.section
-- Parameters: seed, admissions (how many to draw; null: all), train_end, validation_end (of a thousand patients),
--   folds, patient_splits. The admission with the lowest hash is kept, so that no other patient changes the choice;
--   split (80/10/10 by default) and fold go by hashes of the patient alone, which know nothing of one another; with
--   patient_splits = source a split that the source gives goes before
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
    qualify
        getvariable('admissions') is null
        or row_number() over (
            order by md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'cohort', subject_id)), subject_id
        ) <= getvariable('admissions')
)

select
    dealt.subject_id,
    dealt.hadm_id,
    dealt.note_id,
    case
        when given.split is not null then given.split
        when dealt.rank < getvariable('train_end') then 'train'
        when dealt.rank < getvariable('validation_end') then 'validation'
        else 'test'
    end as split,
    (dealt.fold_lot % getvariable('folds'))::integer as fold
from dealt
left join ehr.patient as given
    on dealt.subject_id = given.subject_id and getvariable('patient_splits') = 'source'
order by dealt.subject_id;
