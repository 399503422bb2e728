-- Products with the route of their dose form
-- Grain: one row per product; local where all its dose forms act where they are applied
-- Inputs: dose_form_link (kg/edges.py), kg.node, kg.concept, kg.dose_form_word
-- Output: product_route(node, is_local), a staging table. Source: kg/data/dose_forms.tsv
create or replace temp table product_route as
with local_word as (
    select list(word order by word) as words from kg.dose_form_word
),

form as (
    select
        node.node,
        list_has_any(string_split_regex(lower(concept.name), '[^a-z]+'), local_word.words) as is_local
    from kg.concept as concept
    inner join kg.node as node on concept.cui = node.cui
    cross join local_word
    where node.node in (select tail from dose_form_link)
)

select
    link.head as node,
    bool_and(form.is_local) as is_local
from dose_form_link as link
inner join form on link.tail = form.node
group by link.head
order by link.head;
