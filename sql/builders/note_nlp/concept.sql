-- Standard concepts of OMOP's vocabulary for the CUIs of the mentions
-- Grain: one row per cui: of several standard concepts the one of the lowest number
-- Inputs: ground.mention, umls.mrconso, omop.coded
-- Output: temporary table note_nlp_concept(cui, concept_id)
-- Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#note_nlp; MRCONSO's codes by source
create or replace temp table note_nlp_concept as
select
    atom.cui,
    min(coded.concept_id) as concept_id
from (
    select distinct
        cui,
        sab,
        code
    from umls.mrconso
    where coalesce(suppress, 'N') = 'N'
) as atom
inner join omop.coded as coded on atom.sab = coded.vocabulary and atom.code = coded.code
where
    coded.is_known and coded.is_standard
    and atom.cui in (select unnest(mention.cuis) from ground.mention as mention)
group by atom.cui;
