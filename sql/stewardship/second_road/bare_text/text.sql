-- The texts of some admissions: the rows' own context, all notes, and what the structured tables say in words
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per text. Columns: hadm_id, kind (context, note or code), text without accents
-- Inputs: asked_context(hadm_id, context), ehr.discharge_note, ehr.drug, ehr.diagnosis, ehr.code_title
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
from ehr.discharge_note as note
semi join asked_context on note.hadm_id = asked_context.hadm_id
union all
select
    coded.hadm_id,
    'code' as kind,
    string_agg(distinct coded.name, '. ') as text
from (
    select
        hadm_id,
        name
    from ehr.drug
    union
    select
        code.hadm_id,
        title.title as name
    from ehr.diagnosis as code
    inner join ehr.code_title as title
        on title.kind = 'diagnosis' and code.vocabulary = title.vocabulary and code.code = title.code
) as coded
semi join asked_context on coded.hadm_id = asked_context.hadm_id
group by coded.hadm_id;
