-- Orders whose NDC and drug name lead to different ingredients
-- Grain: one row per (ndc, drug) with no ingredient in common, most used first
-- Inputs: ground.code_map, ground.drug_ingredient, ehr.drug, kg.concept
-- Caveat: both are kept in ground.code_map, for they are different sources; NDCs of 2008 to 2022 and names typed into
--   order entry differ by salts, vehicles and reused numbers
with used as (
    select
        source_table,
        code as ndc,
        name as drug,
        count(*) as n_orders
    from ehr.drug
    where vocabulary = 'NDC'
    group by all
),

ingredient as (
    select
        m.source,
        m.code,
        list(distinct i.ingredient_cui) as cuis,
        list_sort(list(distinct coalesce(c.name, i.ingredient_cui))) as names
    from ground.code_map as m
    inner join ground.drug_ingredient as i on m.cui = i.cui
    left join kg.concept as c on i.ingredient_cui = c.cui
    where coalesce(m.vocabulary, 'NDC') = 'NDC'
    group by m.source, m.code
)

select
    u.ndc,
    u.drug,
    u.n_orders,
    n.names as ndc_ingredients,
    d.names as name_ingredients
from used as u
inner join ingredient as n on n.source = u.source_table || '_ndc' and u.ndc = n.code
inner join ingredient as d on d.source = u.source_table || '_drug' and u.drug = d.code
where not list_has_any(n.cuis, d.cuis)
order by u.n_orders desc, u.ndc asc, u.drug asc;
