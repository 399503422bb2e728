-- Patients of a plain table
-- Grain: one row per patient. Output: the view ehr.patient (ehr/data/contract.tsv)
-- Inputs: notes, codes. Source: docs/sources.md
select ehr.identifier(patient) as subject_id
from (
    select notes.patient from notes
    union
    select codes.patient from codes
) as named
where patient is not null
