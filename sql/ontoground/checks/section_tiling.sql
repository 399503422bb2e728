-- Notes whose sections do not tile them
-- Grain: one row per gap or overlap: where the last section ended, where the next one begins
-- Inputs: ground.section, mimiciv_note.discharge
with boundary as (
    select
        note_id,
        begin_offset,
        end_offset,
        coalesce(lag(end_offset) over (partition by note_id order by begin_offset, end_offset), 0) as expected_begin
    from ground.section
),

whole as (
    select
        d.note_id,
        length(d.text) as characters,
        coalesce(max(s.end_offset), 0) as last_end
    from mimiciv_note.discharge as d
    left join ground.section as s on d.note_id = s.note_id
    group by d.note_id, d.text
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
