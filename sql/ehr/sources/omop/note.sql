-- Notes of OMOP with their kind
-- Grain: one row per note. Output: the view ehr.note (ehr/data/contract.tsv); a kind that the flow does not know is the
--   name of the note's class
-- Inputs: note, omop.placed, concept, note_kind (ehr/data/omop_note_kinds.tsv and a workspace's own rows)
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#note
with kind_of_concept as (
    -- A concept by its number counts before one by its code.
    select
        coalesce(concept.concept_id, try_cast(note_kind.value as bigint)) as concept_id,
        arg_min(note_kind.kind, note_kind.attribute != 'concept_id') as kind
    from note_kind
    left join concept
        on note_kind.attribute = concept.vocabulary_id and note_kind.value = concept.concept_code
    where note_kind.attribute = 'concept_id' or concept.concept_id is not null
    group by all
)

select
    note.note_id::varchar as note_id,
    note.person_id as subject_id,
    coalesce(note.visit_occurrence_id, placed.hadm_id) as hadm_id,
    coalesce(class.kind, type.kind, title.kind, lower(concept.concept_name), 'other') as kind,
    coalesce(note.note_datetime, note.note_date) as time,
    note.note_text as text
from note
left join kind_of_concept as class on note.note_class_concept_id = class.concept_id
left join kind_of_concept as type on note.note_type_concept_id = type.concept_id
left join note_kind as title on title.attribute = 'note_title' and lower(trim(note.note_title)) = title.value
left join concept on note.note_class_concept_id = concept.concept_id and concept.concept_id != 0
left join omop.placed as placed on placed.source_table = 'note' and note.note_id = placed.id
