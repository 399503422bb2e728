-- Conditions, procedures and drug exposures of OMOP, each with one code (sql/ehr/omop/code.sql), else the record's text
-- Grain: one row per record. Output: the view ehr.event (ehr/data/contract.tsv)
-- Inputs: omop.record, code, placed. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html
-- Caveat: OMOP's concept 0 has the vocabulary None
select
    record.kind,
    record.subject_id,
    coalesce(record.hadm_id, placed.hadm_id) as hadm_id,
    coalesce(code.vocabulary, 'None') as vocabulary,
    coalesce(code.code, record.source_value) as code,
    -- What an order calls the drug, where it has words and not a code.
    if(regexp_matches(record.source_value, '[A-Za-z]{3}'), record.source_value, code.name) as name,
    record.time,
    record.source_table
from omop.record as record
left join code on record.source_concept_id = code.source_concept_id and record.concept_id = code.concept_id
left join omop.placed as placed on record.source_table = placed.source_table and record.id = placed.id
where record.kind <> 'note'
