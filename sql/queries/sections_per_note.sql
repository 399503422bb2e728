-- Sections per note
-- Grain: one row per section; a note counts once per section
-- Inputs: ground.section, mimiciv_note.discharge
select
    s.section,
    count(distinct s.note_id) as notes,
    round(count(distinct s.note_id) / (select count(*) from mimiciv_note.discharge), 4) as share_of_notes,
    count(*) as parts,
    round(count(*) / count(distinct s.note_id), 2) as parts_per_note,
    quantile_disc(s.end_offset - s.begin_offset, 0.5) as median_characters
from ground.section as s
group by s.section
order by notes desc, s.section asc;
