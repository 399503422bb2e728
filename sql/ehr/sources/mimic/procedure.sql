-- Procedures of MIMIC-IV
-- Grain: one row per code of an admission. Output: the view ehr.procedure (ehr/data/contract.tsv)
-- Inputs: procedures_icd. Source: https://mimic.mit.edu/docs/iv/modules/hosp/procedures_icd/
select
    subject_id,
    hadm_id,
    seq_num,
    if(icd_version = 9, 'ICD9CM', 'ICD10PCS') as vocabulary,
    icd_code as code,
    chartdate as time,
    'procedures_icd' as source_table
from procedures_icd
