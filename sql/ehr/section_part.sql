-- Sections and segments of the notes, empty: ehr.notes.split_notes fills them shard by shard and names them
--   ground.section and ground.segment when all notes are read
-- Grain: ground.section_part, one row per section or sub-headed part; ground.segment_part, one row per sentence, item
--   or heading
-- Output: ground.section_part(note_id, hadm_id, section, header, begin_offset, end_offset),
--   ground.segment_part(note_id, kind, begin_offset, end_offset, block); offsets half-open, in code points of the note
-- Source: docs/definitions.md#section
create or replace table ground.section_part (
    note_id varchar not null,
    hadm_id bigint,
    section varchar not null,
    header varchar not null,
    begin_offset integer not null,
    end_offset integer not null
);

create or replace table ground.segment_part (
    note_id varchar not null,
    kind varchar not null,
    begin_offset integer not null,
    end_offset integer not null,
    block integer not null
);
