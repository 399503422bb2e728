-- Ingredients of every RxNorm drug
-- Grain: one row per (drug_node, ingredient_cui)
-- Inputs: drug_step, rxnorm_node
-- Output: temporary table node_ingredient(drug_node, ingredient_cui)
-- Caveat: an ingredient (TTY IN) is its own ingredient. A drug from which no way leads to an IN, and which is no
--   product, brand, pack or dose form itself, is its own too (substances whose term type a release does not tell).
-- Source: RxNorm technical documentation: brand - tradename_of - clinical drug - isa / consists_of - component -
--   has_ingredient - ingredient; salt - form_of - ingredient; several ingredients - has_part - ingredient
create or replace temp table node_ingredient as
with recursive reach as (
    select
        d.node as drug_node,
        d.node
    from (select distinct r.node from rxnorm_node as r) as d
    union
    select
        r.drug_node,
        s.next_node as node
    from reach as r
    inner join drug_step as s on r.node = s.node
),

kind as (
    select
        node,
        min(cui) as cui,
        bool_or(tty = 'IN') as is_ingredient,
        bool_or(tty in (
            'SCD', 'SBD', 'SCDC', 'SBDC', 'SCDF', 'SBDF', 'SCDG', 'SBDG', 'SCDFP', 'SBDFP', 'SCDGP', 'GPCK', 'BPCK',
            'BN', 'MIN', 'DF', 'DFG', 'PSN'
        )) as is_product
    from rxnorm_node
    group by node
),

found as (
    select distinct
        r.drug_node,
        k.cui as ingredient_cui
    from reach as r
    inner join kind as k on r.node = k.node
    where k.is_ingredient and k.cui is not null
)

select * from found
union all
select
    k.node as drug_node,
    k.cui as ingredient_cui
from kind as k
anti join found as f on k.node = f.drug_node
where k.cui is not null and not k.is_product;
