-- The texts of some admissions: the rows' own context, all notes, and what the structured tables say in words
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per text. Columns: hadm_id, kind (context, note or code), text without accents
-- Inputs: asked_context(hadm_id, context), mimiciv_note.discharge, mimiciv_hosp.prescriptions,
--   mimiciv_hosp.diagnoses_icd, code_title(icd_code, icd_version, long_title)
select
    hadm_id,
    'context' as kind,
    strip_accents(context) as text
from asked_context
union all
select
    note.hadm_id,
    'note' as kind,
    strip_accents(note.text) as text
from mimiciv_note.discharge as note
semi join asked_context on note.hadm_id = asked_context.hadm_id
union all
select
    coded.hadm_id,
    'code' as kind,
    string_agg(distinct coded.name, '. ') as text
from (
    select
        hadm_id,
        drug as name
    from mimiciv_hosp.prescriptions
    union
    select
        code.hadm_id,
        title.long_title as name
    from mimiciv_hosp.diagnoses_icd as code
    inner join code_title as title
        on code.icd_code = title.icd_code and code.icd_version = title.icd_version
) as coded
semi join asked_context on coded.hadm_id = asked_context.hadm_id
group by coded.hadm_id;
