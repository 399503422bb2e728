-- One step from a drug towards its ingredients
-- Grain: one row per (node, next_node)
-- Inputs: source_mrrel, source_rxnrel (release.mrrel and rxnorm.rxnrel, empty where absent), rxnorm_node
-- Output: temporary table drug_step(node, next_node)
-- Caveat: a row reads CUI2 RELA CUI1, so that the drug stands in CUI2 and what it is made of in CUI1. An ingredient
--   (TTY IN) is the end of the way: no step leaves it.
-- Source: UMLS Reference Manual, MRREL; RxNorm technical documentation, relationships between term types
create or replace temp table drug_step as
with bridge as (
    select distinct
        rxcui,
        node
    from rxnorm_node
),

ingredient as (
    select distinct node
    from rxnorm_node
    where tty = 'IN'
),

step as (
    select
        cui2 as node,
        cui1 as next_node,
        rela
    from source_mrrel
    where sab = 'RXNORM' and coalesce(suppress, 'N') <> 'O'
    union
    select
        d.node,
        n.node as next_node,
        r.rela
    from source_rxnrel as r
    inner join bridge as d on r.rxcui2 = d.rxcui
    inner join bridge as n on r.rxcui1 = n.rxcui
    where r.sab = 'RXNORM' and coalesce(r.suppress, 'N') <> 'O'
)

select distinct
    s.node,
    s.next_node
from step as s
anti join ingredient as i on s.node = i.node
where
    s.node <> s.next_node
    and s.rela in (
        'tradename_of', 'isa', 'consists_of', 'contains', 'has_part', 'form_of', 'has_ingredient', 'has_ingredients',
        'has_precise_ingredient'
    );
