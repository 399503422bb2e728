-- Products with the route of their dose form
-- Grain: one row per product. Inputs: edge_row, kg.predicate_code, kg.node, kg.concept, kg.dose_form_word
-- Output: product_route(node, route), a staging table: systemic where one of its dose forms is, local where all are,
--   else unknown. Source: kg/data/dose_forms.tsv
create or replace temp table product_route as
with link as (
    select distinct
        row.head,
        row.tail
    from edge_row as row
    inner join kg.predicate_code as code on row.predicate = code.code
    where code.predicate = 'has_dose_form' and row.refused is null
),

form as (
    select
        node.node,
        unnest(string_split_regex(lower(concept.name), '[^a-z]+')) as word
    from kg.concept as concept
    inner join kg.node as node on concept.cui = node.cui
    where node.node in (select tail from link)
),

routed as (
    select
        form.node,
        -- local counts before systemic
        coalesce(min(known.route), 'unknown') as route
    from form
    left join kg.dose_form_word as known on form.word = known.word
    group by form.node
)

select
    link.head as node,
    case
        when bool_or(routed.route = 'systemic') then 'systemic'
        when bool_and(routed.route = 'local') then 'local'
        else 'unknown'
    end as route
from link
inner join routed on link.tail = routed.node
group by link.head
order by link.head;
