-- The sections of the notes of one shard
-- Grain: one row per section, in order
-- Inputs: ground.section; the variables first_note_id and last_note_id (inclusive)
-- Output: note_id, section, header, begin_offset, end_offset
-- Source: ehr/note_shards.py
select
    note_id,
    section,
    header,
    begin_offset,
    end_offset
from ground.section
where note_id between getvariable('first_note_id') and getvariable('last_note_id')
order by note_id, begin_offset, end_offset
