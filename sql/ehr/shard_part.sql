-- The sections, or the segments, of the notes of one shard
-- Grain: one row per section or segment, in order
-- Inputs: the table named by the variable shard_table (ground.section or ground.segment); the variables first_note_id
--   and last_note_id (inclusive)
-- Output: its columns without hadm_id. Source: ehr/note_shards.py
select columns(name -> name <> 'hadm_id')
from query_table(getvariable('shard_table'))
where note_id between getvariable('first_note_id') and getvariable('last_note_id')
order by note_id, begin_offset, end_offset
