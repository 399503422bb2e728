-- The context of each admission: the chosen sections of its note
-- Grain: one row per kept section
-- Output: context_piece(hadm_id, note_id, section, begin_offset, end_offset)
-- Inputs: cohort, ground.section. Parameters: sections (list of section names)
-- The text is put together where rows are written, file by file (sql/builders/file_context.sql)
create or replace temp table context_piece as
select
    cohort.hadm_id,
    cohort.note_id,
    part.section,
    part.begin_offset,
    part.end_offset
from cohort
inner join ground.section as part on cohort.note_id = part.note_id
where list_contains(getvariable('sections'), part.section);
