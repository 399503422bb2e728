-- Sections of one note in their order
-- Grain: one row per section
-- Inputs: ground.section; variable wanted
-- Output: rows for `ontoground notes sections --hadm`. Source: docs/definitions.md#section
select
    section,
    header,
    begin_offset,
    end_offset
from ground.section
where note_id = getvariable('wanted')
order by begin_offset
