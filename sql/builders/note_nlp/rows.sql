-- Mentions as rows of OMOP's table NOTE_NLP
-- Grain: one row per mention
-- Inputs: ground.mention, note_nlp_assertion, note_nlp_section (builders/data), note_nlp_concept; variables nlp_system,
--   nlp_time
-- Output: the columns of NOTE_NLP in its order. offset counts code points from 0; the concept is that of the first CUI
--   that has one, 0 where none has; term_modifiers ends in the section, the certainty and all CUIs
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#note_nlp
with mentioned as (
    select
        *,
        row_number() over (order by note_id, begin_offset, end_offset) as note_nlp_id
    from ground.mention
),

candidate as (
    select
        note_nlp_id,
        unnest(cuis) as cui,
        generate_subscripts(cuis, 1) as place
    from mentioned
),

coded as (
    select
        candidate.note_nlp_id,
        arg_min(concept.concept_id, candidate.place) as concept_id
    from candidate
    inner join note_nlp_concept as concept on candidate.cui = concept.cui
    group by candidate.note_nlp_id
)

select
    mentioned.note_nlp_id,
    -- OMOP's own are numbers, MIMIC-IV's are not.
    mentioned.note_id,
    coalesce(section.concept_id, 0) as section_concept_id,
    null::varchar as snippet,
    mentioned.begin_offset::varchar as "offset",
    left(mentioned.text, 250) as lexical_variant,
    coalesce(coded.concept_id, 0) as note_nlp_concept_id,
    0 as note_nlp_source_concept_id,
    getvariable('nlp_system') as nlp_system,
    getvariable('nlp_time')::date as nlp_date,
    getvariable('nlp_time')::timestamp as nlp_datetime,
    assertion.term_exists,
    nullif(assertion.term_temporal, '') as term_temporal,
    concat(
        assertion.modifiers, ',section=', mentioned.section, ',certainty=', mentioned.certainty,
        if(len(mentioned.cuis) > 0, ',cui=' || array_to_string(mentioned.cuis, '|'), '')
    ) as term_modifiers
from mentioned
inner join note_nlp_assertion as assertion on mentioned.assertion = assertion.assertion
left join note_nlp_section as section on mentioned.section = section.section
left join coded on mentioned.note_nlp_id = coded.note_nlp_id
order by mentioned.note_nlp_id
