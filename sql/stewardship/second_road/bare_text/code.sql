-- Ends that the ICD codes of some admissions attest, as the release itself codes its concepts
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per admission and end. Columns: hadm_id, cui
-- Inputs: asked_context(hadm_id), meaning, mimiciv_hosp.diagnoses_icd, mimiciv_hosp.procedures_icd, release.mrconso
-- MIMIC's codes have no dot, the release's have one
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
        coded.hadm_id,
        coded.sab,
        if(
            len(coded.code) <= coded.before_dot,
            coded.code,
            concat(coded.code[:coded.before_dot], '.', coded.code[coded.before_dot + 1:])
        ) as code
    from coded
    semi join asked_context on coded.hadm_id = asked_context.hadm_id
)

select distinct
    dotted.hadm_id,
    meaning.cui
from dotted
inner join release.mrconso as atom on dotted.sab = atom.sab and dotted.code = atom.code
inner join meaning on atom.cui = meaning.mentioned and meaning.attests;
