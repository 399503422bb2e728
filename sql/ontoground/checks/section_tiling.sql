-- Notes whose sections do not tile them
-- Grain: one row per gap or overlap: where the last section ended, where the next one begins
-- Inputs: ground.section, ehr.discharge_note. Parameters: first_note, next_note: of some notes
with boundary as (
    select
        note_id,
        begin_offset,
        end_offset,
        coalesce(lag(end_offset) over (partition by note_id order by begin_offset, end_offset), 0) as expected_begin
    from ground.section
    where note_id >= getvariable('first_note') and note_id < getvariable('next_note')
),

sectioned as (
    select
        note_id,
        max(end_offset) as last_end
    from ground.section
    where note_id >= getvariable('first_note') and note_id < getvariable('next_note')
    group by note_id
),

whole as (
    select
        note.note_id,
        length(note.text) as characters,
        coalesce(sectioned.last_end, 0) as last_end
    from ehr.discharge_note as note
    left join sectioned on note.note_id = sectioned.note_id
    where note.note_id >= getvariable('first_note') and note.note_id < getvariable('next_note')
)

select
    note_id,
    expected_begin,
    begin_offset as found_begin
from boundary
where begin_offset <> expected_begin or end_offset < begin_offset
union all
select
    note_id,
    characters as expected_begin,
    last_end as found_begin
from whole
where last_end <> characters
order by note_id, expected_begin, found_begin;
