-- The texts of the admissions: the row's own context, the whole note, and what the structured tables say in words
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per admission and kind
-- Output: steward_text(text_id, kind, body): kind context, note or code
-- Inputs: steward_context(text_id, body), steward_admission(text_id, hadm_id), mimiciv_note.discharge,
--   mimiciv_hosp.prescriptions, mimiciv_hosp.diagnoses_icd, steward_title(icd_code, icd_version, long_title)
create or replace temp table steward_text as
select
    text_id,
    'context' as kind,
    body
from steward_context
union all
select
    admission.text_id,
    'note' as kind,
    string_agg(note.text, chr(10) || chr(10)) as body
from steward_admission as admission
inner join mimiciv_note.discharge as note on admission.hadm_id = note.hadm_id
group by admission.text_id
union all
select
    named.text_id,
    'code' as kind,
    string_agg(distinct named.name, '. ') as body
from (
    select
        admission.text_id,
        drug.drug as name
    from steward_admission as admission
    inner join mimiciv_hosp.prescriptions as drug on admission.hadm_id = drug.hadm_id
    union
    select
        admission.text_id,
        title.long_title as name
    from steward_admission as admission
    inner join mimiciv_hosp.diagnoses_icd as code on admission.hadm_id = code.hadm_id
    inner join steward_title as title
        on code.icd_code = title.icd_code and code.icd_version = title.icd_version
) as named
group by named.text_id;
