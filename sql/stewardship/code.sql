-- Concepts of the ICD codes of the admissions, as the release itself codes them
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per admission and concept
-- Output: steward_code(text_id, cui)
-- Inputs: steward_admission(text_id, hadm_id), mimiciv_hosp.diagnoses_icd, mimiciv_hosp.procedures_icd, umls.mrconso
-- MIMIC's codes have no dot, the release's have one
create or replace temp table steward_code as
with coded as (
    select
        hadm_id,
        trim(icd_code) as code,
        if(icd_version = 9, 'ICD9CM', 'ICD10CM') as sab,
        if(icd_version = 9 and starts_with(icd_code, 'E'), 4, 3) as before_dot
    from mimiciv_hosp.diagnoses_icd
    union
    select
        hadm_id,
        trim(icd_code) as code,
        if(icd_version = 9, 'ICD9CM', 'ICD10PCS') as sab,
        if(icd_version = 9, 2, 7) as before_dot
    from mimiciv_hosp.procedures_icd
),

dotted as (
    select
        admission.text_id,
        coded.sab,
        case
            when len(coded.code) <= coded.before_dot then coded.code
            else concat(coded.code[:coded.before_dot], '.', coded.code[coded.before_dot + 1:])
        end as code
    from coded
    inner join steward_admission as admission on coded.hadm_id = admission.hadm_id
)

select distinct
    dotted.text_id,
    atom.cui
from dotted
inner join umls.mrconso as atom on dotted.sab = atom.sab and dotted.code = atom.code;
