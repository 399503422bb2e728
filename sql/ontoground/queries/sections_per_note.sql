-- Sections per note
-- Grain: one row per section; a note counts once per section; share: of all notes; length: median, in characters
-- Inputs: ground.section, ehr.discharge_note
select
    s.section,
    count(distinct s.note_id) as notes,
    round(count(distinct s.note_id) / (select count(*) from ehr.discharge_note), 4) as share,
    count(*) as parts,
    round(count(*) / count(distinct s.note_id), 2) as per_note,
    quantile_disc(s.end_offset - s.begin_offset, 0.5) as length
from ground.section as s
group by s.section
order by notes desc, s.section asc;
