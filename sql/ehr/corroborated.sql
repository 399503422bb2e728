-- Unsure mentions that the admission's codes or orders speak for
-- Grain: one row per mention. Output: corroborated(note_id, begin_offset); their certainty in ground.mention_part
-- A code speaks for its concept, and for those one step of is_a or of a drug's forms away
-- Inputs: ground.mention_part, ground.admission_concept(hadm_id, cui), kg.edge
-- Only present ones are asked for: what is coded was there, and codes say nothing of what was denied or is over
create or replace temp table corroborated as
with unsure as (
    select
        note_id,
        begin_offset,
        hadm_id,
        unnest(cuis) as cui
    from ground.mention_part
    where
        certainty = 'unsure' and assertion = 'present' and hadm_id is not null
        and not list_has_any(reasons, ['allergy', 'other_person']) and section != 'discharge_medications'
),

step as (
    select
        head_cui as cui,
        tail_cui as other
    from kg.edge
    where predicate in ('is_a', 'placed_under', 'drug_form_of')
    union
    select
        tail_cui as cui,
        head_cui as other
    from kg.edge
    where predicate in ('is_a', 'placed_under', 'drug_form_of')
),

near as (
    select
        meant.cui,
        meant.cui as other
    from (select distinct unsure.cui from unsure) as meant
    union
    select
        meant.cui,
        step.other
    from (select distinct unsure.cui from unsure) as meant
    inner join step on meant.cui = step.cui
)

select distinct
    unsure.note_id,
    unsure.begin_offset
from unsure
inner join near on unsure.cui = near.cui
inner join ground.admission_concept as recorded on unsure.hadm_id = recorded.hadm_id and near.other = recorded.cui;

update ground.mention_part
set certainty = 'corroborated'
from corroborated
where
    ground.mention_part.note_id = corroborated.note_id and ground.mention_part.begin_offset = corroborated.begin_offset
    and ground.mention_part.certainty = 'unsure';
