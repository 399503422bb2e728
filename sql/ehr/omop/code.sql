-- Codes of OMOP's conditions, procedures and drugs: the source concept's where UMLS has its vocabulary, else the
--   standard concept's
-- Grain: one row per pair of source concept and standard concept that a record has; 0 where it has none
-- Inputs: omop.record, concept, concept_relationship, vocabulary_source
-- Output: omop.code(source_concept_id, concept_id, vocabulary, code, name, to_vocabulary, to_code). A vocabulary that
--   UMLS lacks keeps its own name. to_code: the standard concept's, where the code is the source's; a source concept
--   without one has that of its valid "Maps to" relation (of several in CONCEPT the lowest number)
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html (source values, source concepts and standard concepts)
create or replace table omop.code as
with pair as (
    select distinct
        source_concept_id,
        concept_id
    from omop.record
    where kind != 'note'
),

mapped as (
    select
        concept_id_1 as source_concept_id,
        0 as stated_id,
        coalesce(min(concept_id_2) filter (where concept_id_2 in (select concept_id from omop.concept)), 0)
            as concept_id
    from omop.concept_relationship
    where
        relationship_id = 'Maps to' and coalesce(invalid_reason, '') = ''
        and concept_id_1 in (
            select pair.source_concept_id from pair
            where pair.concept_id = 0
        )
    group by concept_id_1
),

used as (
    select
        concept.concept_id,
        coalesce(source.sab, concept.vocabulary_id) as vocabulary,
        concept.concept_code as code,
        concept.concept_name as name,
        source.sab is not null as is_known
    from omop.concept as concept
    left join omop.vocabulary_source as source on concept.vocabulary_id = source.vocabulary_id
    where
        concept.concept_id != 0
        and concept.concept_id in (
            select pair.concept_id from pair
            union
            select pair.source_concept_id from pair
            union
            select mapped.concept_id from mapped
        )
),

both_sides as (
    select
        pair.*,
        coalesce(source.is_known or not standard.is_known, source.code is not null) as is_source,
        source as source,
        standard as standard
    from pair
    left join mapped on pair.source_concept_id = mapped.source_concept_id and pair.concept_id = mapped.stated_id
    left join used as source on pair.source_concept_id = source.concept_id
    left join used as standard on coalesce(mapped.concept_id, pair.concept_id) = standard.concept_id
)

select
    source_concept_id,
    concept_id,
    if(is_source, source.vocabulary, standard.vocabulary) as vocabulary,
    if(is_source, source.code, standard.code) as code,
    if(is_source, source.name, standard.name) as name,
    if(is_source and standard.is_known, standard.vocabulary, null) as to_vocabulary,
    if(is_source and standard.is_known, standard.code, null) as to_code
from both_sides;
