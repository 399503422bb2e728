-- Mentions that lie in no section of their note, or in another one than they say
-- Grain: one row per offending mention
-- Inputs: ground.mention, ground.section. Parameters: first_note, next_note: of some notes
with sectioned as (
    select
        note_id,
        section,
        begin_offset,
        end_offset
    from ground.section
    where note_id >= getvariable('first_note') and note_id < getvariable('next_note')
)

select
    m.note_id,
    m.begin_offset,
    m.end_offset,
    m.section,
    s.section as section_there
from ground.mention as m
left join sectioned as s
    on m.note_id = s.note_id and m.begin_offset >= s.begin_offset and m.begin_offset < s.end_offset
where
    m.note_id >= getvariable('first_note') and m.note_id < getvariable('next_note')
    and (s.section is null or m.section is distinct from s.section)
order by m.note_id, m.begin_offset, m.end_offset;
