-- Patients of MIMIC-IV
-- Grain: one row per patient. Output: the view ehr.patient (ehr/data/contract.tsv); MIMIC has no splits of its own
-- Inputs: patients. Source: https://mimic.mit.edu/docs/iv/modules/hosp/patients/
select subject_id
from patients
