-- Products with the route of their dose form
-- Grain: one row per product; local where all its dose forms act where they are applied
-- Inputs: kg.edge_candidate, kg.node, kg.concept, kg.dose_form_word
-- Output: kg.product_route(node, is_local), a staging table. Source: kg/data/dose_forms.tsv
create or replace table kg.product_route as
with wanted as (
    select distinct tail_cui from kg.edge_candidate
    where predicate = 'has_dose_form'
),

local_word as (
    select list(word order by word) as words from kg.dose_form_word
),

form as (
    select
        concept.cui,
        list_has_any(string_split_regex(lower(concept.name), '[^a-z]+'), local_word.words) as is_local
    from kg.concept as concept
    inner join wanted on concept.cui = wanted.tail_cui
    cross join local_word
)

select
    product.node,
    bool_and(form.is_local) as is_local
from kg.edge_candidate as edge
inner join form on edge.tail_cui = form.cui
inner join kg.node as product on edge.head_cui = product.cui
where edge.predicate = 'has_dose_form' and edge.refused is null
group by product.node
order by product.node;
