-- Ranges of notes with a hospital course, each small enough to be read at once
-- Grain: one row per range, in the order of note_id
-- Output: low, high (first and last note_id of the range). Inputs: ground.section. Parameter: notes (of a range)
-- Source: docs/medval.md
with note as (
    select distinct note_id
    from ground.section
    where section = 'brief_hospital_course'
),

placed as (
    select
        note_id,
        (row_number() over (order by note_id) - 1) // getvariable('notes') as place
    from note
)

select
    min(note_id) as low,
    max(note_id) as high
from placed
group by place
order by low;
