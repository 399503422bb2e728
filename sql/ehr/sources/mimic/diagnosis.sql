-- Diagnoses of MIMIC-IV, which are coded for the stay as a whole
-- Grain: one row per code of an admission. Output: the view ehr.diagnosis (ehr/data/contract.tsv)
-- Inputs: diagnoses_icd. Source: https://mimic.mit.edu/docs/iv/modules/hosp/diagnoses_icd/
select
    subject_id,
    hadm_id,
    seq_num,
    if(icd_version = 9, 'ICD9CM', 'ICD10CM') as vocabulary,
    icd_code as code,
    null as time,
    'diagnoses_icd' as source_table
from diagnoses_icd
