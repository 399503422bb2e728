-- Titles of ICD codes, as MIMIC-IV gives them
-- Grain: one row per code and kind of code. Output: the view ehr.code_title (ehr/data/contract.tsv)
-- Inputs: d_icd_diagnoses, d_icd_procedures. Source: https://mimic.mit.edu/docs/iv/modules/hosp/
select
    'diagnosis' as kind,
    if(icd_version = 9, 'ICD9CM', 'ICD10CM') as vocabulary,
    icd_code as code,
    long_title as title
from d_icd_diagnoses
union all
select
    'procedure' as kind,
    if(icd_version = 9, 'ICD9CM', 'ICD10PCS') as vocabulary,
    icd_code as code,
    long_title as title
from d_icd_procedures
