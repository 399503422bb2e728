-- Ingredients of the drugs that codes of the records lead to
-- Grain: one row per (cui, ingredient_cui)
-- Inputs: ground.code_map, source_code, node_ingredient
-- Output: ground.drug_ingredient(cui, ingredient_cui); an ingredient is its own
-- Source: RxNorm technical documentation, see node_ingredient
create or replace table ground.drug_ingredient as
select distinct
    m.cui as cui,
    i.ingredient_cui
from ground.code_map as m
inner join node_ingredient as i on m.cui = i.drug_node
where
    m.source in (
        select s.source
        from source_code as s
        where s.kind in ('drug', 'drug_name')
    )
order by m.cui, i.ingredient_cui;
