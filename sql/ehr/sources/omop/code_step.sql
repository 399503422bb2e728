-- Source codes of OMOP and the standard codes that OMOP maps them to
-- Grain: one row per pair of codes. Output: the view ehr.code_step (ehr/data/contract.tsv)
-- Inputs: code. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#concept_relationship
select distinct
    vocabulary,
    code,
    to_vocabulary,
    to_code
from code
where (vocabulary, code) != (to_vocabulary, to_code)
