-- Diagnoses, procedures and drugs of a plain table of codes
-- Grain: one row per code. Output: the view ehr.event (ehr/data/contract.tsv)
-- Inputs: codes. Source: docs/sources.md
select
    ehr.kind_of_code(kind, vocabulary) as kind,
    ehr.identifier(patient) as subject_id,
    ehr.stay(patient, admission) as hadm_id,
    ehr.vocabulary(vocabulary) as vocabulary,
    code,
    name,
    time,
    case ehr.kind_of_code(kind, vocabulary)
        when 'diagnosis' then 'diagnoses'
        when 'procedure' then 'procedures'
        else 'drugs'
    end as source_table
from codes
