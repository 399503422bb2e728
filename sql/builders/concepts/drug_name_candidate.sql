-- Candidate concepts of each drug name
-- Grain: one row per (code, cui)
-- Inputs: drug_variant, drug_name, node_ingredient
-- Output: temporary table drug_name_candidate(code, cui, method)
-- Caveat: the form that leaves out least wins; of the concepts with this name, those of the best term type. A name as
--   it is written is drug_name, everything else drug_name_loose. An RXCUI that UMLS lacks gives its ingredients.
-- Source: docs/definitions.md#code
create or replace temp table drug_name_candidate as
with hit as (
    select
        v.code,
        n.node,
        v.rank,
        v.part,
        v.nuance,
        n.rank as term_rank
    from drug_variant as v
    inner join drug_name as n on v.form = n.form
    union all
    -- The same words in another order, for combinations: "Oxycodone-Acetaminophen".
    select
        v.code,
        n.node,
        v.rank + if(v.part between 1 and 99, 0.0, 0.05) as rank,
        v.part,
        v.nuance + if(v.part between 1 and 99, 0.05, 0.0) as nuance,
        n.rank as term_rank
    from drug_variant as v
    inner join drug_name as n on v.sorted_form = n.sorted_form
    where v.form <> n.form
),

resolved as (
    select
        h.code,
        if(h.node like 'RXCUI:%', i.ingredient_cui, h.node) as cui,
        h.rank + if(h.node like 'RXCUI:%', 0.01, 0.0) as rank,
        h.part,
        h.nuance,
        h.term_rank
    from hit as h
    left join node_ingredient as i on if(h.node like 'RXCUI:%', h.node, null) = i.drug_node
),

nearest as (
    select *
    from resolved
    where cui is not null
    qualify rank = min(rank) over (partition by code)
),

best as (
    select *
    from nearest
    qualify rank() over (partition by code, part order by nuance, term_rank) = 1
)

select distinct
    code,
    cui,
    if(rank = 0, 'drug_name', 'drug_name_loose') as method
from best;
