-- Notes of a plain table. A note without a kind is read as a discharge summary
-- Grain: one row per note. Output: the view ehr.note (ehr/data/contract.tsv); seq_num: minutes since 1970
-- Inputs: notes. Source: docs/sources.md
select
    id as note_id,
    ehr.identifier(patient) as subject_id,
    ehr.stay(patient, admission) as hadm_id,
    try_cast(epoch(time) // 60 as integer) as seq_num,
    case
        when coalesce(trim(kind), '') = '' or lower(trim(kind)) like 'discharge%' then 'discharge'
        when lower(trim(kind)) like 'radiology%' then 'radiology'
        else lower(trim(kind))
    end as kind,
    time,
    text
from notes
