-- Drugs that were given during the stay and are over: no home drugs, none to go on with
-- Grain: one row per mention. Output: given(note_id, begin_offset); their assertion in ground.mention_part
-- A drug of the hospital course that was ordered is given if neither list has it in any of its forms: not among the
--   medications on admission, and not among those of the discharge, where the note has such a list. It may read as
--   present or as stopped. What is of the home list keeps its assertion: it goes on, or it was stopped
-- Source: docs/definitions.md#given
-- Inputs: ground.mention_part, recorded, kg.edge, kg.concept
create or replace temp table given as
with spoken as (
    select
        note_id,
        hadm_id,
        begin_offset,
        section,
        cuis
    from ground.mention_part
    where
        assertion in ('present', 'discontinued') and len(cuis) > 0
        and section in ('brief_hospital_course', 'medications_on_admission', 'discharge_medications')
),

drug as (
    select distinct concept.cui
    from (select distinct unnest(spoken.cuis) as cui from spoken) as meant
    inner join kg.concept as concept on meant.cui = concept.cui
    where list_contains(concept.groups, 'CHEM')
),

step as (
    select
        head_cui as cui,
        tail_cui as other
    from kg.edge
    where predicate in ('drug_form_of', 'is_a', 'placed_under', 'has_pharmacologic_class')
    union all
    select
        tail_cui as cui,
        head_cui as other
    from kg.edge
    where predicate = 'drug_form_of'
    union all
    select
        cui,
        cui as other
    from drug
),

-- two steps: a brand, its ingredient, another brand or the class; a word for the class of a home drug means that drug
form as (
    select distinct
        drug.cui,
        second.other
    from drug
    inner join step on drug.cui = step.cui
    inner join step as second on step.other = second.cui
    where second.other in (select other.cui from drug as other)
),

listed as (
    select distinct
        said.note_id,
        form.other as cui
    from (
        select
            *,
            unnest(cuis) as cui
        from spoken
        where section != 'brief_hospital_course'
    ) as said
    inner join form on said.cui = form.cui
),

told as (
    select
        *,
        unnest(cuis) as cui
    from spoken
    where
        section = 'brief_hospital_course'
        and note_id in (
            select other.note_id from spoken as other
            where other.section = 'discharge_medications'
        )
)

select
    told.note_id,
    told.begin_offset
from told
inner join drug on told.cui = drug.cui
left join recorded on told.hadm_id = recorded.hadm_id and told.cui = recorded.cui
left join listed on told.note_id = listed.note_id and told.cui = listed.cui
group by told.note_id, told.begin_offset
having bool_or(recorded.cui is not null) and bool_and(listed.cui is null);

-- Words of an end are no doubt of what was given and ended, nor is what was learned to speak against the mention. Words
-- of denial are: an order may be cancelled
update ground.mention_part
set
    assertion = 'given',
    certainty = case
        when certainty = 'certain' then 'certain'
        when
            list_has_all(
                ['past', 'stopped', 'said_otherwise', 'conditional'],
                list_filter(reasons, lambda reason: not starts_with(reason, 'learned:'))
            ) then 'corroborated'
        else 'unsure'
    end
from given
where ground.mention_part.note_id = given.note_id and ground.mention_part.begin_offset = given.begin_offset;
