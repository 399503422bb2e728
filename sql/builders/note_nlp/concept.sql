-- Standard concepts of OMOP's vocabulary for the CUIs of the mentions
-- Grain: one row per cui: of several standard concepts the one of the lowest number
-- Inputs: ground.mention, release.mrconso, omop.concept, omop.vocabulary_source
-- Output: temporary table note_nlp_concept(cui, concept_id)
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#note_nlp; MRCONSO's codes by source
create or replace temp table note_nlp_concept as
select
    atom.cui,
    min(concept.concept_id) as concept_id
from (
    select distinct
        cui,
        sab,
        code
    from release.mrconso
    where coalesce(suppress, 'N') = 'N'
) as atom
inner join omop.vocabulary_source as source on atom.sab = source.sab
inner join omop.concept as concept on source.vocabulary_id = concept.vocabulary_id and atom.code = concept.concept_code
where
    concept.standard_concept = 'S'
    and atom.cui in (select unnest(mention.cuis) from ground.mention as mention)
group by atom.cui;
