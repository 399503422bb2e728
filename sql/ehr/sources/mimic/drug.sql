-- Drug orders of MIMIC-IV
-- Grain: one row per order. Output: the view ehr.drug (ehr/data/contract.tsv)
-- Inputs: prescriptions. Source: https://mimic.mit.edu/docs/iv/modules/hosp/prescriptions/
select
    subject_id,
    hadm_id,
    'NDC' as vocabulary,
    ndc as code,
    drug as name,
    starttime as time,
    stoptime as stop,
    'prescriptions' as source_table
from prescriptions
