-- Diagnoses of a plain table of codes
-- Grain: one row per code. Output: the view ehr.diagnosis (ehr/data/contract.tsv)
-- Inputs: codes. Source: docs/sources.md
select
    ehr.identifier(patient) as subject_id,
    ehr.stay(patient, admission) as hadm_id,
    null as seq_num,
    ehr.vocabulary(vocabulary) as vocabulary,
    code,
    time,
    'diagnoses' as source_table
from codes
where ehr.kind_of_code(kind, vocabulary) = 'diagnosis'
