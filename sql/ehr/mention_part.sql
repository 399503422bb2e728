-- Mentions of the notes, empty: ehr.notes.find_mentions fills them shard by shard and names them ground.mention and
--   ground.unclear_mention when all notes are read
-- Grain: one row per mention. ground.unclear_mention_part holds what is read but not asserted: signs of the
--   examination, titles of studies, terms that their context does not decide; it can rule out "not attested", never
--   support a fact
-- Output: ground.mention_part(note_id, hadm_id, begin_offset, end_offset, text, cuis, assertion, section,
--   certainty, reasons), ground.unclear_mention_part(note_id, hadm_id, begin_offset, end_offset, text, cuis,
--   reason, section)
-- Source: docs/definitions.md#mention
create or replace table ground.mention_part (
    note_id varchar not null,
    hadm_id bigint,
    begin_offset integer not null,
    end_offset integer not null,
    text varchar not null,
    cuis varchar[] not null,
    assertion varchar not null,
    section varchar not null,
    certainty varchar not null,
    reasons varchar[] not null
);

create or replace table ground.unclear_mention_part (
    note_id varchar not null,
    hadm_id bigint,
    begin_offset integer not null,
    end_offset integer not null,
    text varchar not null,
    cuis varchar[] not null,
    reason varchar not null,
    section varchar not null
);
