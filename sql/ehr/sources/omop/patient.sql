-- Patients of OMOP
-- Grain: one row per person. Output: the view ehr.patient (ehr/data/contract.tsv)
-- Inputs: person. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#person
select person_id as subject_id
from person
