-- Diagnoses, procedures, and drug orders and exposures of a MEDS dataset
-- Grain: one row per event. Output: the view ehr.event (ehr/data/contract.tsv)
-- Inputs: event, code. Source: MEDS 0.4; ehr/data/meds_columns.tsv
select
    code.kind,
    event.subject_id,
    event.hadm_id,
    code.vocabulary,
    code.source_code as code,
    coalesce(code.name, code.description) as name,
    event.time,
    event.stop,
    if(code.kind = 'drug', 'medication', code.kind) as source_table
from event
inner join code on event.code = code.code
where code.kind in ('diagnosis', 'procedure', 'drug')
