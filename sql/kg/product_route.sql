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

known_word as (
    select
        list(word order by word) filter (where route = 'local') as local_words,
        list(word order by word) filter (where route = 'systemic') as systemic_words
    from kg.dose_form_word
),

form as (
    select
        node.node,
        string_split_regex(lower(concept.name), '[^a-z]+') as words
    from kg.concept as concept
    inner join kg.node as node on concept.cui = node.cui
    where node.node in (select tail from link)
),

routed as (
    select
        form.node,
        case
            when list_has_any(form.words, known_word.local_words) then 'local'
            when list_has_any(form.words, known_word.systemic_words) then 'systemic'
            else 'unknown'
        end as route
    from form
    cross join known_word
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
