-- Diagnoses, which are coded for the stay as a whole, procedures, and drug orders of MIMIC-IV
-- Grain: one row per code or order of an admission. Output: the view ehr.event (ehr/data/contract.tsv)
-- Inputs: diagnoses_icd, procedures_icd, prescriptions. Source: https://mimic.mit.edu/docs/iv/modules/hosp/

-- noqa: disable=AM07
select
    'diagnosis' as kind,
    subject_id,
    hadm_id,
    seq_num,
    if(icd_version = 9, 'ICD9CM', 'ICD10CM') as vocabulary,
    icd_code as code,
    'diagnoses_icd' as source_table
from diagnoses_icd
union all by name
select
    'procedure' as kind,
    subject_id,
    hadm_id,
    seq_num,
    if(icd_version = 9, 'ICD9CM', 'ICD10PCS') as vocabulary,
    icd_code as code,
    chartdate as time,
    'procedures_icd' as source_table
from procedures_icd
union all by name
select
    'drug' as kind,
    subject_id,
    hadm_id,
    'NDC' as vocabulary,
    ndc as code,
    drug as name,
    starttime as time,
    'prescriptions' as source_table
from prescriptions
