-- Candidate concepts of each NDC
-- Grain: one row per (code, cui)
-- Inputs: source_code, source_rxnsat, source_mrsat (rxnorm.rxnsat and umls.mrsat, empty where absent), rxnorm_node,
--   node_ingredient, drug_name_candidate, ehr.drug
-- Output: temporary table ndc_candidate(code, cui, method)
-- Caveat: an NDC that stands on a product leads to the product (ndc_rxcui); one that stands on a concept as a whole
--   (STYPE CUI), or on an RXCUI that UMLS lacks, leads to the ingredient (ndc_ingredient) and counts where there is no
--   product only. Such lists are loose (oxygen stands on saline for inhalation): where the names of the orders share
--   some of a list's ingredients, the others are left out. RxNorm's own NDCs go before those of other sources, current
--   ones before withdrawn ones.
-- Source: RxNorm technical documentation: RXNSAT rows with ATN NDC
create or replace temp table ndc_candidate as
with wanted as (
    select distinct
        code,
        ndc11(code) as ndc
    from source_code
    where kind = 'drug' and vocabulary = 'NDC'
),

bridge as (
    select distinct
        rxcui,
        node,
        cui
    from rxnorm_node
),

stated as (
    select
        ndc11(s.atv) as ndc,
        b.node,
        b.cui,
        s.sab,
        s.suppress
    from source_rxnsat as s
    inner join bridge as b on s.rxcui = b.rxcui
    where s.atn = 'NDC'
    union all
    select
        ndc11(s.atv) as ndc,
        b.node,
        b.cui,
        s.sab,
        s.suppress
    from source_mrsat as s
    inner join bridge as b on s.code = b.rxcui
    where s.atn = 'NDC' and s.sab = 'RXNORM' and s.stype <> 'CUI'
    union all
    select
        ndc11(atv) as ndc,
        cui as node,
        cui,
        sab,
        suppress
    from source_mrsat
    where atn = 'NDC' and sab <> 'RXNORM' and stype <> 'CUI'
),

-- Rank 1 to 4: on a product; 5: through the ingredients of an RXCUI without CUI; 6: stated of the ingredient itself.
way as (
    select
        ndc,
        cui,
        'ndc_rxcui' as method,
        1 + (sab <> 'RXNORM')::integer + 2 * (coalesce(suppress, 'N') <> 'N')::integer as rank
    from stated
    where cui is not null
    union all
    select
        s.ndc,
        i.ingredient_cui as cui,
        'ndc_ingredient' as method,
        5 as rank
    from stated as s
    inner join node_ingredient as i on s.node = i.drug_node
    where s.cui is null
    union all
    select
        ndc11(atv) as ndc,
        cui,
        'ndc_ingredient' as method,
        6 as rank
    from source_mrsat
    where atn = 'NDC' and stype = 'CUI'
),

nearest as (
    select
        wanted.code,
        way.cui,
        way.method,
        way.rank
    from wanted
    inner join way on wanted.ndc = way.ndc
    qualify way.rank = min(way.rank) over (partition by wanted.code)
),

ordered as (
    select distinct
        p.code,
        i.ingredient_cui as cui
    from ehr.drug as p
    semi join nearest as n on p.vocabulary = 'NDC' and p.code = n.code and n.rank = 6
    inner join drug_name_candidate as d on p.name = d.code
    inner join node_ingredient as i on d.cui = i.drug_node
)

select distinct
    n.code,
    n.cui,
    n.method
from nearest as n
left join ordered as o on n.code = o.code and n.cui = o.cui
qualify n.rank < 6 or o.cui is not null or not bool_or(o.cui is not null) over (partition by n.code);
