-- What the records hold of the admissions of some patients
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: part_mention, one row per mention; part_unclear, one per mention that is unclear; part_concept, one per
--   admission and coded concept; part_note, one per discharge note; present_concept and named_concept, one per mention
--   and concept
-- Output: part_mention, part_unclear, part_concept and part_note, with the columns of the tables that they are parts
--   of; views of what notes mention: present_concept(hadm_id, cui) in the context's sections,
--   named_concept(hadm_id, cui) in the whole note
-- Inputs: part_admission(hadm_id), ground.mention, ground.unclear_mention, ground.admission_concept,
--   ehr.discharge_note, form_step(one, other), ended_by(cui, ended). Parameters: sections, assertions, certainties,
--   home_sections, first_note, last_note (of the part; mentions lie in the order of notes, so that a part reads its own
--   only)
-- What home takes ends with the note that ends it: `part_mention` calls a drug of the home sections discontinued if
--   the note has it as discontinued or as stopped, in whatever form, or what it is one of or is mixed with, or its
--   medications as such ("home meds"), or speaks of it in the stay without attesting it; and nowhere has a form of it
--   as a drug that it goes on with
create or replace temp table part_mention as
select mention.*
from ground.mention as mention
semi join part_admission on mention.hadm_id = part_admission.hadm_id
where mention.note_id between getvariable('first_note') and getvariable('last_note');

create or replace temp table named_form as
with recursive reached as (
    select distinct
        named.cui,
        named.cui as other
    from (select unnest(cuis) as cui from part_mention) as named
    inner join kg.concept as concept on named.cui = concept.cui
    where list_contains(concept.groups, 'CHEM')
    union
    select
        lower(nameless.text) as cui,
        lower(nameless.text) as other
    from part_mention as nameless
    where len(nameless.cuis) = 0 and lower(nameless.text) like '% med%s'
    union
    select
        reached.cui,
        form_step.other
    from reached
    inner join form_step on reached.other = form_step.one
)

select
    mention.note_id,
    mention.begin_offset,
    reached.other as cui,
    len(mention.cuis) = 0 as is_nameless,
    case
        when mention.assertion = 'discontinued' then 'end'
        when
            list_contains(mention.reasons, 'stopped') and len(mention.cuis) > 0
            and (
                mention.certainty = 'unsure'
                or list_contains(getvariable('home_sections')::varchar[], mention.section)
            ) then 'end'
        when
            list_contains(getvariable('assertions'), mention.assertion)
            and list_contains(getvariable('certainties'), mention.certainty)
            then if(list_contains(getvariable('home_sections')::varchar[], mention.section), 'home', 'stay')
        when list_contains(getvariable('home_sections')::varchar[], mention.section) then 'word'
        else 'doubt'
    end as tells
from (
    select
        *,
        unnest(if(len(cuis) = 0, [lower(text)], cuis)) as mentioned
    from part_mention
) as mention
inner join reached on mention.mentioned = reached.cui
where reached.other in (select named.cui from reached as named);

create or replace temp table part_end as
select
    note_id,
    cui,
    is_nameless,
    bool_or(tells = 'end') as is_told
from named_form
group by note_id, cui, is_nameless
having
    bool_or(tells = 'end' or (tells = 'doubt' and not is_nameless)) and not bool_or(tells = 'stay');

create or replace temp table home_end as
select distinct
    own.note_id,
    own.begin_offset
from named_form as own
inner join part_end as ending on own.note_id = ending.note_id
left join ended_by on ending.cui = ended_by.cui and own.cui = ended_by.ended and ending.is_told
anti join (
    select
        note_id,
        cui
    from named_form
    where tells = 'stay'
) as staying on own.note_id = staying.note_id and own.cui = staying.cui
where own.tells in ('home', 'end') and (ending.is_nameless or ending.cui = own.cui or ended_by.cui is not null);

update part_mention
set assertion = 'discontinued'
from home_end
where
    part_mention.note_id = home_end.note_id and part_mention.begin_offset = home_end.begin_offset
    and list_contains(getvariable('home_sections')::varchar[], part_mention.section)
    and list_contains(getvariable('assertions'), part_mention.assertion);

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
from ehr.discharge_note as note
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
