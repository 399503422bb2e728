-- Notes of OMOP with their kind
-- Grain: one row per note
-- Inputs: omop.note, omop.concept, omop.note_kind (ehr/data/omop_note_kinds.tsv and a workspace's own rows)
-- Output: view ehr.note; a kind that the flow does not know is the name of the note's class
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#note
create or replace view ehr.note as
with kind_of_concept as (
    select
        concept.concept_id,
        kind.kind
    from omop.concept as concept
    inner join omop.note_kind as kind
        on concept.vocabulary_id = kind.attribute and concept.concept_code = kind.value
    union
    select
        value::bigint as concept_id,
        kind
    from omop.note_kind
    where attribute = 'concept_id'
),

kind_of_title as (
    select
        value as title,
        kind
    from omop.note_kind
    where attribute = 'note_title'
)

select
    note.note_id::varchar as note_id,
    note.person_id as subject_id,
    note.visit_occurrence_id as hadm_id,
    coalesce(class.kind, type.kind, title.kind, lower(concept.concept_name), 'other') as kind,
    coalesce(note.note_datetime, note.note_date) as time,
    note.note_text as text
from omop.note as note
left join kind_of_concept as class on note.note_class_concept_id = class.concept_id
left join kind_of_concept as type on note.note_type_concept_id = type.concept_id
left join kind_of_title as title on lower(trim(note.note_title)) = title.title
left join omop.concept as concept on note.note_class_concept_id = concept.concept_id and concept.concept_id != 0;
