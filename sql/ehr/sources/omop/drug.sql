-- Drug exposures of OMOP, each with one code (sql/ehr/omop/code.sql), else the record's own text
-- Grain: one row per drug_exposure. Output: the view ehr.drug (ehr/data/contract.tsv)
-- Inputs: drug_exposure, code. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#drug_exposure
-- Caveat: OMOP's concept 0 has the vocabulary None
select
    drug_exposure.person_id as subject_id,
    drug_exposure.visit_occurrence_id as hadm_id,
    coalesce(code.vocabulary, 'None') as vocabulary,
    coalesce(code.code, drug_exposure.drug_source_value) as code,
    -- What the order calls the drug, where it has words and not a code.
    case
        when regexp_matches(drug_exposure.drug_source_value, '[A-Za-z]{3}') then drug_exposure.drug_source_value
        else code.name
    end as name,
    coalesce(drug_exposure.drug_exposure_start_datetime, drug_exposure.drug_exposure_start_date) as time,
    coalesce(drug_exposure.drug_exposure_end_datetime, drug_exposure.drug_exposure_end_date) as stop,
    'drug_exposure' as source_table
from drug_exposure
left join code
    on
        coalesce(drug_exposure.drug_source_concept_id, 0) = code.source_concept_id
        and coalesce(drug_exposure.drug_concept_id, 0) = code.concept_id
