-- Shards of notes: all notes of a patient lie in one, so that a shard may be a little larger than it should
-- Grain: one row per shard, in the order of the notes
-- Inputs: mimiciv_note.discharge; the variables shard_notes (notes in a shard) and notes_done (how many, in
--   their order, are left out)
-- Output: first_note_id, last_note_id (inclusive)
-- Source: MIMIC-IV-Note: a note_id is the patient, the kind of note and its number, such as 10000032-DS-21
with numbered as (
    select
        note_id,
        split_part(note_id, '-', 1) as patient,
        row_number() over (order by note_id) as n
    from mimiciv_note.discharge
),

placed as (
    select
        note_id,
        (min(n) over (partition by patient) - 1) // getvariable('shard_notes') as shard
    from numbered
    where n > getvariable('notes_done')
)

select
    min(note_id) as first_note_id,
    max(note_id) as last_note_id
from placed
group by shard
order by shard;
