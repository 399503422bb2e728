-- The context of each admission: the chosen sections of its note
-- Grain: one row per kept section
-- Output: context_piece(number, hadm_id, note_id, section, begin_offset, end_offset)
-- Inputs: admission, ground.section. Parameters: sections (list of section names)
-- The text is put together where rows are written, file by file (sql/builders/medieval/rows/file_context.sql)
create or replace temp table context_piece as
select
    admission.number,
    admission.hadm_id,
    admission.note_id,
    part.section,
    part.begin_offset,
    part.end_offset
from admission
inner join ground.section as part on admission.note_id = part.note_id
where list_contains(getvariable('sections'), part.section);
