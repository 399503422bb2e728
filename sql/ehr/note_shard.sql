-- Shards of notes
-- Grain: one row per shard, in the order of the notes
-- Inputs: ehr.discharge_note; the variables shard_notes (notes in a shard) and notes_done (how many, in their order,
--   are left out)
-- Output: first_note_id, last_note_id (inclusive)
-- Source: ehr/note_shards.py
with numbered as (
    select
        note_id,
        row_number() over (order by note_id) - 1 as n
    from ehr.discharge_note
)

select
    min(note_id) as first_note_id,
    max(note_id) as last_note_id
from numbered
where n >= getvariable('notes_done')
group by n // getvariable('shard_notes')
order by first_note_id;
