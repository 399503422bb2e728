-- Distinct codes of diagnoses, procedures, drugs and drug names, each with how many rows use it
-- Grain: one row per (source, vocabulary, code); code is the text as it stands in the source table
-- Inputs: ehr.code
-- Output: temporary table source_code(id, kind, source, vocabulary, code, name, code_version, bare, dotted, n_rows);
--   code_version, bare and dotted for the ICD codes of the United States only
-- Source: docs/definitions.md#code; UMLS names the vocabularies ICD9CM, ICD10CM and ICD10PCS
create or replace temp table source_code as
with used as (
    select
        kind,
        source,
        vocabulary,
        code,
        min(name) as name,
        count(*) as n_rows
    from ehr.code
    where trim(code) <> ''
    group by kind, source, vocabulary, code
),

versioned as (
    select
        *,
        case vocabulary when 'ICD9CM' then 9 when 'ICD10CM' then 10 when 'ICD10PCS' then 10 end::smallint
            as code_version,
        upper(replace(trim(code), '.', '')) as bare
    from used
)

select
    row_number() over () as id,
    * replace (if(code_version is null, null, bare) as bare),
    if(code_version is null, null, dotted_icd(kind, vocabulary, bare)) as dotted
from versioned;
