-- Ends that the codes of some admissions attest, as the release itself codes its concepts
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per admission and end. Columns: hadm_id, cui
-- Inputs: asked_context(hadm_id), meaning, ehr.diagnosis, ehr.procedure, release.mrconso
-- ICD codes of records mostly have no dot, the release's have one
with coded as (
    select
        hadm_id,
        trim(code) as code,
        vocabulary as sab,
        if(vocabulary = 'ICD9CM' and starts_with(code, 'E'), 4, 3) as before_dot
    from ehr.diagnosis
    union
    select
        hadm_id,
        trim(code) as code,
        vocabulary as sab,
        if(vocabulary = 'ICD9CM', 2, 7) as before_dot
    from ehr.procedure
),

dotted as (
    select
        coded.hadm_id,
        coded.sab,
        if(
            not starts_with(coded.sab, 'ICD') or contains(coded.code, '.') or len(coded.code) <= coded.before_dot,
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
