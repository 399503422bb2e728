-- Products with the route of their dose form
-- Grain: one row per product; local where all its dose forms act where they are applied
-- Inputs: edge_candidate, kg.predicate_code, kg.node, kg.concept, kg.dose_form_word
-- Output: product_route(node, is_local), a staging table. Source: kg/data/dose_forms.tsv
create or replace temp table product_route as
with has_form as (
    select
        edge.head,
        edge.tail,
        edge.refused
    from edge_candidate as edge
    inner join kg.predicate_code as code on edge.predicate = code.code and code.predicate = 'has_dose_form'
),

local_word as (
    select list(word order by word) as words from kg.dose_form_word
),

form as (
    select
        node.node,
        list_has_any(string_split_regex(lower(concept.name), '[^a-z]+'), local_word.words) as is_local
    from kg.concept as concept
    inner join kg.node as node on concept.cui = node.cui
    cross join local_word
    where node.node in (select tail from has_form)
)

select
    has_form.head as node,
    bool_and(form.is_local) as is_local
from has_form
inner join form on has_form.tail = form.node
where has_form.refused is null
group by has_form.head
order by has_form.head;
