-- Concepts of the records' codes
-- Grain: one row per (source, vocabulary, code, cui): every candidate is a row
-- Inputs: source_code, ehr.code_step, icd_candidate, code_candidate, ndc_candidate, drug_name_candidate
-- Output: ground.code_map(source, code, code_version, cui, method, n_candidates, vocabulary). source: of MIMIC
--   diagnoses_icd, procedures_icd, prescriptions_ndc, prescriptions_drug; code: the text as it stands in the source
--   table; code_version: 9 or 10 for ICD of the United States, else null; method: exact, parent_code, map, ndc_rxcui,
--   ndc_ingredient, drug_name, drug_name_loose; n_candidates: how many concepts this code has; vocabulary: UMLS' name
--   of it, null for the names of drugs
-- Caveat: a code has the candidates of its best method only, by the order exact > map (an exact row) > parent_code >
--   map (an approximate row or a category); ndc_rxcui > ndc_ingredient; drug_name > drug_name_loose. Code and name of
--   an order are different sources, and both are kept where they disagree
--   (sql/ontoground/queries/ndc_name_disagreement). Codes without a concept have no row here: they are in
--   sql/ontoground/queries/unmapped_codes.
-- Source: docs/definitions.md#code
create or replace table ground.code_map as
with own as (
    select * from icd_candidate
    union all
    select
        s.id,
        c.cui,
        c.method
    from source_code as s
    inner join code_candidate as c on s.vocabulary = c.vocabulary and s.code = c.code
    union all
    select
        s.id,
        c.cui,
        c.method
    from source_code as s
    inner join ndc_candidate as c on s.vocabulary = 'NDC' and s.code = c.code
    union all
    select
        s.id,
        c.cui,
        c.method
    from source_code as s
    inner join drug_name_candidate as c on s.kind = 'drug_name' and s.code = c.code
),

candidate as (
    select * from own
    union all
    -- Codes that the release lacks, through the code that the source maps them to.
    select distinct
        s.id,
        c.cui,
        'map' as method
    from source_code as s
    inner join ehr.code_step as t on s.vocabulary = t.vocabulary and s.code = t.code
    inner join code_candidate as c on t.to_vocabulary = c.vocabulary and t.to_code = c.code
    anti join own on s.id = own.id
)

select
    s.source,
    s.code,
    s.code_version,
    -- A release's column may be written in capitals.
    c.cui as cui,
    c.method,
    count(*) over (partition by s.id)::integer as n_candidates,
    s.vocabulary
from candidate as c
inner join source_code as s on c.id = s.id
order by all;
