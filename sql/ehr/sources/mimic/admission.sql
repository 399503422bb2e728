-- Admissions of MIMIC-IV
-- Grain: one row per admission. Output: the view ehr.admission (ehr/data/contract.tsv)
-- Inputs: admissions. Source: https://mimic.mit.edu/docs/iv/modules/hosp/admissions/
select
    subject_id,
    hadm_id,
    admittime,
    dischtime
from admissions
