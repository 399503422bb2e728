-- What the records of the admission say of what its notes name
-- Grain: one row per mention. Output: recorded(hadm_id, cui, is_drug), and certainty and reasons in
--   ground.mention_part: unsure mentions that a code or an order speaks for are corroborated; certain ones that nothing
--   speaks for, where something should, are unsure
-- A code speaks for its concept, for its parents, for other forms of a drug, and for a brand or a combination if all
--   that it contains is ordered; a code of a more general concept speaks for none of its kinds. It says nothing of
--   what is denied or over, of other people, nor of what was done before the stay or elsewhere; and a problem that is
--   coded may be one that was suspected, or one of another year: in a history it speaks for an illness that lasts only
-- Orders are complete: a drug of the hospital course that was never ordered was hardly given (not_ordered). Codes are
--   not: a problem or a procedure that is not coded is sure if it stands in a list of its own, or if the note comes
--   back to it, or if it is an illness that lasts; another past history that nothing else speaks of is past (alone)
-- Source: docs/definitions.md#certainty
-- Inputs: ground.mention_part, ground.admission_concept(hadm_id, cui, kind), lasting(cui), kg.edge, kg.concept
create or replace temp table recorded as
with meant as (
    select distinct
        hadm_id,
        unnest(cuis) as cui
    from ground.mention_part
    where assertion in ('present', 'discontinued') and hadm_id is not null
),

coded as (
    select distinct
        hadm_id,
        cui
    from ground.admission_concept
),

step as (
    select
        head_cui as cui,
        tail_cui as other
    from kg.edge
    where predicate = 'drug_form_of'
    union all
    select
        tail_cui as cui,
        head_cui as other
    from kg.edge
    where predicate in ('is_a', 'placed_under', 'drug_form_of')
),

near as (
    select distinct
        meant.cui,
        meant.cui as other
    from meant
    union all
    select step.*
    from step
    where
        step.cui in (select meant.cui from meant) and step.other in (select coded.cui from coded)
),

content as (
    select distinct
        meant.hadm_id,
        meant.cui,
        edge.tail_cui as part
    from meant
    inner join kg.edge as edge on meant.cui = edge.head_cui
    where edge.predicate = 'contains_drug'
),

-- by concept first: all codes of an admission beside all that its note names would be fifty times as many rows
speaking as materialized (
    select
        coded.hadm_id,
        near.cui
    from coded
    inner join near on coded.cui = near.other
),

spoken_for as (
    select meant.*
    from meant
    semi join speaking on meant.hadm_id = speaking.hadm_id and meant.cui = speaking.cui
    union
    select
        content.hadm_id,
        content.cui
    from content
    left join coded on content.hadm_id = coded.hadm_id and content.part = coded.cui
    group by content.hadm_id, content.cui
    having count(coded.cui) = count(*)
)

select
    spoken_for.*,
    list_contains(concept.groups, 'CHEM') as is_drug
from spoken_for
inner join kg.concept as concept on spoken_for.cui = concept.cui;

create or replace temp table alone as
with ordering as (
    select distinct hadm_id
    from ground.admission_concept
    where kind = 'drug'
),

coding as (
    select distinct hadm_id
    from ground.admission_concept
    where kind = 'diagnosis'
),

sure as (
    select
        mention.*,
        list_contains(concept.groups, 'CHEM') as is_drug
    from ground.mention_part as mention
    inner join kg.concept as concept on mention.cuis[1] = concept.cui
    where mention.certainty = 'certain' and mention.assertion = 'present'
),

said as (
    select
        note_id,
        cuis[1] as cui,
        count(*) as times,
        count(*) filter (where section != 'past_medical_history') as times_now
    from sure
    where not is_drug
    group by note_id, cuis[1]
),

doubted as (
    select
        sure.*,
        if(sure.is_drug, 'not_ordered', 'alone') as reason
    from sure
    left join said on sure.note_id = said.note_id and sure.cuis[1] = said.cui
    where
        if(
            sure.is_drug,
            sure.section = 'brief_hospital_course' and sure.hadm_id in (select ordering.hadm_id from ordering),
            sure.hadm_id in (select coding.hadm_id from coding)
            and case sure.section
                when 'past_medical_history' then said.times_now = 0
                when 'history_of_present_illness' then said.times = 1
                else false
            end
            and sure.cuis[1] not in (select lasting.cui from lasting)
        )
),

backed as (
    select
        meant.note_id,
        meant.begin_offset
    from (select doubted.* replace (unnest(doubted.cuis) as cuis) from doubted) as meant
    semi join recorded on meant.hadm_id = recorded.hadm_id and meant.cuis = recorded.cui
)

select
    doubted.note_id,
    doubted.begin_offset,
    doubted.reason
from doubted
anti join backed on doubted.note_id = backed.note_id and doubted.begin_offset = backed.begin_offset;

update ground.mention_part
set certainty = 'corroborated'
from (
    select distinct
        meant.note_id,
        meant.begin_offset
    from (
        select
            *,
            unnest(cuis) as cui,
            list_has_any(reasons, ['uncertain', 'stopped', 'said_otherwise'])
            or (
                section in ('history_of_present_illness', 'past_medical_history')
                and cui not in (select lasting.cui from lasting)
            ) as is_over
        from ground.mention_part
        where
            certainty = 'unsure' and assertion = 'present' and section != 'discharge_medications'
            and not list_has_any(reasons, ['allergy', 'other_person', 'time'])
    ) as meant
    inner join recorded on meant.hadm_id = recorded.hadm_id and meant.cui = recorded.cui
    where recorded.is_drug or not meant.is_over
) as backed
where ground.mention_part.note_id = backed.note_id and ground.mention_part.begin_offset = backed.begin_offset;

update ground.mention_part
set certainty = 'unsure', reasons = [alone.reason]
from alone
where ground.mention_part.note_id = alone.note_id and ground.mention_part.begin_offset = alone.begin_offset;
