-- Concepts of the records' codes
-- Grain: one row per (source, code, code_version, cui): every candidate is a row
-- Inputs: icd_candidate, ndc_candidate, drug_name_candidate
-- Output: ground.code_map(source, code, code_version, cui, method, n_candidates). source: diagnoses_icd,
--   procedures_icd, prescriptions_ndc, prescriptions_drug; code: the text as it stands in the source table;
--   code_version: 9 or 10 for ICD, null for drugs; method: exact, parent_code, map, ndc_rxcui, ndc_ingredient,
--   drug_name, drug_name_loose; n_candidates: how many concepts this code has
-- Caveat: a code has the candidates of its best method only, by the order exact > map (an exact row) > parent_code >
--   map (an approximate row or a category); ndc_rxcui > ndc_ingredient; drug_name > drug_name_loose. NDC and name of
--   an order are different sources, and both are kept where they disagree
--   (sql/ontoground/queries/ndc_name_disagreement). Codes without a concept have no row here: they are in
--   sql/ontoground/queries/unmapped_codes.
-- Source: docs/definitions.md#code
create or replace table ground.code_map as
with candidate as (
    select
        source,
        code,
        code_version,
        cui,
        method
    from icd_candidate
    union all
    select
        'prescriptions_ndc' as source,
        code,
        null as code_version,
        cui,
        method
    from ndc_candidate
    union all
    select
        'prescriptions_drug' as source,
        code,
        null as code_version,
        cui,
        method
    from drug_name_candidate
)

select
    source,
    code,
    code_version::smallint as code_version,
    cui as cui,
    method,
    count(*) over (partition by source, code, code_version)::integer as n_candidates
from candidate
order by all;
