-- Radiology notes that have both findings and an impression
-- Grain: one row per note, in the order of note_id
-- Output: note_id, subject_id, text
-- Inputs: ehr.radiology_note
-- Source: MedVAL, Table 2 (radiology impressions)
select
    note_id,
    subject_id,
    text
from ehr.radiology_note
where contains(upper(text), 'FINDINGS') and contains(upper(text), 'IMPRESSION')
order by note_id;
