-- Sections and segments of the notes, empty: ehr.notes.split_notes fills them
-- Grain: ground.section, one row per section or sub-headed part; ground.segment, one row per sentence, item or heading
-- Output: ground.section(note_id, hadm_id, section, header, begin_offset, end_offset),
--   ground.segment(note_id, kind, begin_offset, end_offset, block); offsets half-open, in code points of the note
-- Source: CONTRACTS.md; docs/architecture.md
create or replace table ground.section (
    note_id varchar not null,
    hadm_id bigint,
    section varchar not null,
    header varchar not null,
    begin_offset integer not null,
    end_offset integer not null
);

create or replace table ground.segment (
    note_id varchar not null,
    kind varchar not null,
    begin_offset integer not null,
    end_offset integer not null,
    block integer not null
);
