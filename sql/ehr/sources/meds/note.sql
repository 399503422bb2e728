-- Notes of a MEDS dataset: events whose code is that of a kind of note
-- Grain: one row per note. Output: the view ehr.note (ehr/data/contract.tsv)
-- Inputs: note, code. Source: MEDS 0.4; ehr/data/meds_columns.tsv
select
    note.note_id,
    note.subject_id,
    note.hadm_id,
    row_number() over (partition by note.subject_id order by note.time, note.note_id) as seq_num,
    coalesce(code.vocabulary, lower(code.name)) as kind,
    note.time,
    note.text_value as text
from note
inner join code on note.code = code.code
