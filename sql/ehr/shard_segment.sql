-- The segments of the notes of one shard
-- Grain: one row per segment, in order
-- Inputs: ground.segment; the variables first_note_id and last_note_id (inclusive)
-- Output: note_id, kind, begin_offset, end_offset, block
-- Source: ehr/note_shards.py
select
    note_id,
    kind,
    begin_offset,
    end_offset,
    block
from ground.segment
where note_id between getvariable('first_note_id') and getvariable('last_note_id')
order by note_id, begin_offset, end_offset
