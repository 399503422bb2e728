-- Source codes and the standard codes that OMOP maps them to
-- Grain: one row per pair of codes
-- Inputs: omop.concept_relationship, condition_occurrence, procedure_occurrence, drug_exposure, coded
-- Output: view ehr.code_step(vocabulary, code, to_vocabulary, to_code): valid "Maps to" relations, and pairs of source
--   concept and standard concept that a record has (their vocabulary may be thin); only to vocabularies that UMLS has
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#concept_relationship
create or replace view ehr.code_step as
with pair as (
    select
        concept_id_1 as concept_id,
        concept_id_2 as standard_concept_id
    from omop.concept_relationship
    where relationship_id = 'Maps to' and coalesce(invalid_reason, '') = '' and concept_id_1 != concept_id_2
    union
    select
        condition_source_concept_id as concept_id,
        condition_concept_id as standard_concept_id
    from omop.condition_occurrence
    union
    select
        procedure_source_concept_id as concept_id,
        procedure_concept_id as standard_concept_id
    from omop.procedure_occurrence
    union
    select
        drug_source_concept_id as concept_id,
        drug_concept_id as standard_concept_id
    from omop.drug_exposure
)

select distinct
    source.vocabulary,
    source.code,
    standard.vocabulary as to_vocabulary,
    standard.code as to_code
from pair
inner join omop.coded as source on pair.concept_id = source.concept_id
inner join omop.coded as standard on pair.standard_concept_id = standard.concept_id
where standard.is_known and (source.vocabulary, source.code) != (standard.vocabulary, standard.code);
