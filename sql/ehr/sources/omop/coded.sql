-- Concepts of OMOP's vocabulary, with the abbreviation that UMLS has for their vocabulary
-- Grain: one row per concept_id
-- Inputs: omop.concept, omop.vocabulary_source (ehr/data/omop_vocabularies.tsv and a workspace's own rows)
-- Output: view omop.coded(concept_id, vocabulary, code, name, is_known, is_standard): is_known
--   where UMLS has the vocabulary, else its own name stands; concept 0 ("No matching concept") is none
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#concept
create or replace view omop.coded as
select
    concept.concept_id,
    coalesce(source.sab, concept.vocabulary_id) as vocabulary,
    concept.concept_code as code,
    concept.concept_name as name,
    source.sab is not null as is_known,
    coalesce(concept.standard_concept = 'S', false) as is_standard
from omop.concept as concept
left join omop.vocabulary_source as source on concept.vocabulary_id = source.vocabulary_id
where concept.concept_id != 0;
