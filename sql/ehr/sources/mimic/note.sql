-- Notes of MIMIC-IV-Note
-- Grain: one row per note. Output: the view ehr.note (ehr/data/contract.tsv)
-- Inputs: discharge, radiology. Source: https://mimic.mit.edu/docs/iv/modules/note/
select
    note_id,
    subject_id,
    hadm_id,
    note_seq as seq_num,
    kind,
    charttime as time,
    text
from (
    select
        *,
        'discharge' as kind
    from discharge
    union all by name
    select
        *,
        'radiology' as kind
    from radiology
) as either
