-- Ingredients of the drugs that codes of the records lead to
-- Grain: one row per (cui, ingredient_cui)
-- Inputs: ground.code_map, node_ingredient
-- Output: ground.drug_ingredient(cui, ingredient_cui); an ingredient is its own
-- Source: RxNorm technical documentation, see node_ingredient
create or replace table ground.drug_ingredient as
select distinct
    m.cui as cui,
    i.ingredient_cui
from ground.code_map as m
inner join node_ingredient as i on m.cui = i.drug_node
where m.source in ('prescriptions_ndc', 'prescriptions_drug')
order by m.cui, i.ingredient_cui;
