-- The context of each admission: the chosen sections of its note, in their order
-- Grain: context_piece, one row per kept section; context, one row per admission that has any
-- Output: context_piece(hadm_id, note_id, section, begin_offset, end_offset), context(hadm_id, context)
-- Inputs: cohort, ground.section, mimiciv_note.discharge. Parameters: sections (list of section names)
-- Source: MediEval section 3.1 step 1; DESIGN section 5
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

create or replace temp table context as
select
    piece.hadm_id,
    string_agg(
        rtrim(substr(note.text, piece.begin_offset + 1, piece.end_offset - piece.begin_offset)), chr(10)
        order by piece.begin_offset
    ) as context
from context_piece as piece
inner join mimiciv_note.discharge as note on piece.note_id = note.note_id
group by piece.hadm_id;
