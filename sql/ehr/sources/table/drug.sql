-- Drugs of a plain table of codes
-- Grain: one row per code. Output: the view ehr.drug (ehr/data/contract.tsv)
-- Inputs: codes. Source: docs/sources.md
select
    ehr.identifier(patient) as subject_id,
    ehr.stay(patient, admission) as hadm_id,
    ehr.vocabulary(vocabulary) as vocabulary,
    code,
    name,
    time,
    null as stop,
    'drugs' as source_table
from codes
where ehr.kind_of_code(kind, vocabulary) = 'drug'
