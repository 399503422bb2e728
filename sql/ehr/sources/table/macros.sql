-- Identifiers of a plain table as numbers, and its words for vocabularies in those of UMLS
-- Output: macros ehr.identifier, ehr.stay, ehr.vocabulary and ehr.kind_of_code, kept beside the views that use them
-- Caveat: a whole number is its own identifier, another text is a hash of 63 bits (two texts of one hash are refused).
--   Where no admission is named, all that a patient has is one stay
-- Source: docs/sources.md

-- noqa: disable=LT02

create or replace macro ehr.identifier(written) as
    case
        when regexp_full_match(written, '0|[1-9][0-9]{0,17}') then written::bigint
        else (md5_number_upper(written) >> 1)::bigint
    end;

create or replace macro ehr.stay(patient, admission) as
    coalesce(ehr.identifier(admission), (md5_number_upper('patient ' || patient) >> 1)::bigint);

create or replace macro ehr.vocabulary(written) as
    case upper(regexp_replace(written, '[^A-Za-z0-9]', '', 'g'))
        when 'ICD9' then 'ICD9CM'
        when 'ICD9CM' then 'ICD9CM'
        when 'ICD10CM' then 'ICD10CM'
        when 'ICD10PCS' then 'ICD10PCS'
        when 'SNOMED' then 'SNOMEDCT_US'
        when 'SNOMEDCT' then 'SNOMEDCT_US'
        when 'LOINC' then 'LNC'
        when 'MESH' then 'MSH'
        when 'CPT4' then 'CPT'
        else upper(trim(written))
    end;

create or replace macro ehr.kind_of_code(kind, vocabulary) as
    coalesce(
        nullif(lower(trim(kind)), ''),
        case
            when ehr.vocabulary(vocabulary) in ('NDC', 'RXNORM', 'ATC') then 'drug'
            when ehr.vocabulary(vocabulary) in ('ICD10PCS', 'CPT', 'HCPCS') then 'procedure'
            else 'diagnosis'
        end
    );
