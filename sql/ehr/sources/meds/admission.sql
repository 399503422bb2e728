-- Admissions of a MEDS dataset
-- Grain: one row per admission. Output: the view ehr.admission (ehr/data/contract.tsv)
-- Inputs: admission. Source: MEDS 0.4; ehr/data/meds_columns.tsv
select
    subject_id,
    hadm_id,
    admittime,
    dischtime
from admission
