-- Patients of a MEDS dataset, with its splits under our names
-- Grain: one row per patient. Output: the view ehr.patient (ehr/data/contract.tsv)
-- Inputs: subject. Source: MEDS 0.4; ehr/data/meds_columns.tsv
select
    subject_id,
    case lower(split)
        when 'train' then 'train'
        when 'tuning' then 'validation'
        when 'validation' then 'validation'
        when 'held_out' then 'test'
        when 'test' then 'test'
    end as split
from subject
