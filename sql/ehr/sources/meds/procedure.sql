-- Procedures of a MEDS dataset
-- Grain: one row per event. Output: the view ehr.procedure (ehr/data/contract.tsv)
-- Inputs: event, code. Source: MEDS 0.4; ehr/data/meds_columns.tsv
select
    event.subject_id,
    event.hadm_id,
    null as seq_num,
    code.vocabulary,
    code.source_code as code,
    event.time,
    'procedure' as source_table
from event
inner join code on event.code = code.code
where code.kind = 'procedure'
