-- Notes of a MEDS dataset: events whose code is that of a kind of note, without those that have no text
-- Grain: one row per note. Output: meds.note, as ehr/data/contract.tsv has them, and joined (event.sql)
-- Inputs: meds_row, meds_placed, meds.code
-- Caveat: a note without an identifier of its own is called by patient, kind and its place among the patient's
-- Source: MEDS 0.4: free-text notes are text_value
create or replace table meds.note as
with note as (
    select
        placed.*,
        coalesce(code.vocabulary, lower(code.name)) as note_kind
    from meds_placed as placed
    inner join meds.code as code on placed.code = code.code
    where code.kind = 'note'
),

called as (
    select
        * replace (
            coalesce(
                note_id,
                concat_ws(
                    '-', subject_id, note_kind,
                    row_number() over (partition by subject_id, note_kind order by time, filename, file_row_number)
                )
            ) as note_id
        )
    from note
)

select
    called.note_id,
    called.subject_id,
    called.hadm_id,
    row_number() over (partition by called.subject_id order by called.time, called.note_id) as seq_num,
    called.note_kind as kind,
    called.time,
    meds_row.text_value as text,
    called.joined
from called
inner join meds_row on called.filename = meds_row.filename and called.file_row_number = meds_row.file_row_number
where not regexp_full_match(coalesce(meds_row.text_value, ''), '\s*');

drop table meds_placed;
