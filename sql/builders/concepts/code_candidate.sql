-- Candidate concepts of codes of any vocabulary but those of icd_candidate and ndc_candidate
-- Grain: one row per (vocabulary, code, cui)
-- Inputs: source_code, ehr.code_step, release.mrconso, rxnorm_node, node_ingredient
-- Output: temporary table code_candidate(vocabulary, code, cui, method): exact, and for an RXCUI that UMLS lacks map,
--   to its ingredients
-- Caveat: of a code's atoms the best kind is kept: current before suppressed, the code's own name before its entry
--   terms, for an entry term may be narrower than its code. A code of another edition of ICD may lack its dot
-- Source: UMLS Reference Manual, source vocabularies: CODE is SNOMED CT's concept identifier, the RXCUI, the LOINC
--   number, the CPT or HCPCS code, MeSH's unique identifier
create or replace temp table code_candidate as
with wanted as (
    select
        vocabulary,
        code,
        upper(trim(code)) as written,
        if(vocabulary like 'ICD%', replace(upper(trim(code)), '.', ''), upper(trim(code))) as bare
    from (
        select
            vocabulary,
            code
        from source_code
        where code_version is null
        union
        select
            to_vocabulary as vocabulary,
            to_code as code
        from ehr.code_step
    ) as used
    where vocabulary is distinct from 'NDC'
),

atom as (
    select
        sab,
        if(sab like 'ICD%', replace(upper(code), '.', ''), upper(code)) as bare,
        cui,
        rank() over (
            partition by sab, code
            order by
                coalesce(suppress, 'N') <> 'N',
                tty not in ('PT', 'HT', 'MH', 'NM', 'FN', 'PN', 'IN', 'PIN', 'MIN', 'BN', 'SCD', 'SBD', 'LN', 'LC')
        ) as place
    from release.mrconso
    where sab in (select w.vocabulary from wanted as w)
),

retired as (
    select
        wanted.vocabulary,
        wanted.code,
        ingredient.ingredient_cui as cui
    from wanted
    inner join rxnorm_node as node on wanted.written = node.rxcui
    inner join node_ingredient as ingredient on node.node = ingredient.drug_node
    where wanted.vocabulary = 'RXNORM' and node.cui is null
)

select distinct
    wanted.vocabulary,
    wanted.code,
    atom.cui,
    'exact' as method
from wanted
inner join atom on wanted.vocabulary = atom.sab and wanted.bare = atom.bare
where atom.place = 1
union
select
    vocabulary,
    code,
    cui,
    'map' as method
from retired;
