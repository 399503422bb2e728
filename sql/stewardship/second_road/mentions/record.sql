-- What the records hold of the admissions of some patients
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: part_mention, one row per mention; part_unclear, one per mention that is unclear; part_concept, one per
--   admission and coded concept; part_note, one per discharge note; present_concept and named_concept, one per mention
--   and concept
-- Output: part_mention, part_unclear, part_concept and part_note, with the columns of the tables that they are parts
--   of; views of what notes mention: present_concept(hadm_id, cui) in the context's sections,
--   named_concept(hadm_id, cui) in the whole note
-- Inputs: part_admission(hadm_id), ground.mention, ground.unclear_mention, ground.admission_concept,
--   mimiciv_note.discharge. Parameters: sections, assertions, certainties, first_note, last_note (of the part; mentions
--   lie in the order of notes, so that a part reads its own only)
create or replace temp table part_mention as
select mention.*
from ground.mention as mention
semi join part_admission on mention.hadm_id = part_admission.hadm_id
where mention.note_id between getvariable('first_note') and getvariable('last_note');

create or replace temp table part_unclear as
select mention.*
from ground.unclear_mention as mention
semi join part_admission on mention.hadm_id = part_admission.hadm_id
where mention.note_id between getvariable('first_note') and getvariable('last_note');

create or replace temp table part_concept as
select admission_concept.*
from ground.admission_concept as admission_concept
semi join part_admission on admission_concept.hadm_id = part_admission.hadm_id;

create or replace temp table part_note as
select note.*
from mimiciv_note.discharge as note
semi join part_admission on note.hadm_id = part_admission.hadm_id
where note.note_id between getvariable('first_note') and getvariable('last_note');

create or replace temp view present_concept as
select
    mention.hadm_id,
    unnest(mention.cuis) as cui
from part_mention as mention
where
    list_contains(getvariable('assertions'), mention.assertion)
    and list_contains(getvariable('certainties'), mention.certainty)
    and list_contains(getvariable('sections'), mention.section);

create or replace temp view named_concept as
select
    mention.hadm_id,
    unnest(mention.cuis) as cui
from part_mention as mention
union
select
    mention.hadm_id,
    unnest(mention.cuis) as cui
from part_unclear as mention;
