-- Mentions whose text is not what stands at their offsets
-- Grain: one row per offending mention, without its text
-- Inputs: ground.mention, ehr.discharge_note. Parameters: first_note, next_note: of some notes, whose texts fit
--   into memory
with written as (
    select
        note_id,
        text
    from ehr.discharge_note
    where note_id >= getvariable('first_note') and note_id < getvariable('next_note')
)

select
    m.note_id,
    m.begin_offset,
    m.end_offset
from ground.mention as m
left join written as d on m.note_id = d.note_id
where
    m.note_id >= getvariable('first_note') and m.note_id < getvariable('next_note')
    and (
        d.note_id is null
        or m.begin_offset < 0
        or m.end_offset <= m.begin_offset
        or substring(d.text, (m.begin_offset + 1)::bigint, (m.end_offset - m.begin_offset)::bigint) <> m.text
    )
order by m.note_id, m.begin_offset, m.end_offset;
