-- The notes of one shard
-- Grain: one row per note, in order
-- Inputs: ehr.discharge_note; the variables first_note_id and last_note_id (inclusive)
-- Output: note_id, hadm_id (null where the note has none), text (empty where it is null)
-- Source: ehr/note_shards.py
select
    note_id,
    hadm_id,
    coalesce(text, '') as text
from ehr.discharge_note
where note_id between getvariable('first_note_id') and getvariable('last_note_id')
order by note_id
