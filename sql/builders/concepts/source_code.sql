-- Distinct codes of diagnoses, procedures, NDCs and drug names, each with how many rows use it
-- Grain: one row per (source, code, code_version); code is the text as it stands in the source table
-- Inputs: mimiciv_hosp.diagnoses_icd, procedures_icd, prescriptions
-- Output: temporary table source_code(source, code, code_version, sab, bare, dotted, n_rows); sab, bare and dotted
--   for ICD codes only
-- Source: docs/definitions.md#code; UMLS names the vocabularies ICD9CM, ICD10CM and ICD10PCS
create or replace temp table source_code as
with icd as (
    select
        'diagnoses_icd' as source,
        icd_code as code,
        icd_version::smallint as code_version,
        count(*) as n_rows
    from mimiciv_hosp.diagnoses_icd
    where trim(icd_code) <> ''
    group by all
    union all
    select
        'procedures_icd' as source,
        icd_code as code,
        icd_version::smallint as code_version,
        count(*) as n_rows
    from mimiciv_hosp.procedures_icd
    where trim(icd_code) <> ''
    group by all
),

bare as (
    select
        *,
        case
            when code_version = 9 then 'ICD9CM'
            when source = 'diagnoses_icd' then 'ICD10CM'
            else 'ICD10PCS'
        end as sab,
        upper(replace(trim(code), '.', '')) as bare
    from icd
)

select
    source,
    code,
    code_version,
    sab,
    bare,
    dotted_icd(source, code_version, bare) as dotted,
    n_rows
from bare
union all
select
    'prescriptions_ndc' as source,
    ndc as code,
    null as code_version,
    null as sab,
    null as bare,
    null as dotted,
    count(*) as n_rows
from mimiciv_hosp.prescriptions
where trim(ndc) <> ''
group by ndc
union all
select
    'prescriptions_drug' as source,
    drug as code,
    null as code_version,
    null as sab,
    null as bare,
    null as dotted,
    count(*) as n_rows
from mimiciv_hosp.prescriptions
where trim(drug) <> ''
group by drug;
