-- Which drugs are the same, what holds others, and where each acts
-- Grain: drug_part, one row per (whole, part), however deep; drug, one row per concept that is either, or acts;
--   drug_link, one row per composition link
-- Inputs: edge_row, kg.predicate_code, product_route
-- Output: staging tables drug_part(head, tail, is_link), drug(node, is_part, is_whole, substances, systemic, local,
--   elsewhere), drug_link(head, tail, same). head: the whole (a brand, a salt, a product, a strength). systemic, local:
--   of products that hold the concept. same: the whole is a form of its part: it holds one substance only, and is taken
--   by a route of it that carries its indications
-- A substance is a part that is never a whole. A drug that is both swallowed and put on the skin has indications that a
--   cream of it does not have: where a part has systemic and other products, a whole is a form of it only if it has a
--   systemic product itself. A dose form of unknown words is not taken to be systemic
-- Source: kg/data/predicates.tsv (implies); docs/definitions.md#edge
create or replace temp table drug_part as
with recursive link as materialized (
    select distinct
        row.head,
        row.tail
    from edge_row as row
    inner join kg.predicate_code as code on row.predicate = code.code
    where code.implies = 'contains_drug' and row.refused is null
),

inside as (
    select * from link
    union
    select
        inside.head,
        link.tail
    from inside
    inner join link on inside.tail = link.head
)

select
    inside.*,
    link.head is not null as is_link
from inside
left join link on inside.head = link.head and inside.tail = link.tail;

create or replace temp table drug as
select
    node,
    coalesce(bool_or(is_part), false) as is_part,
    coalesce(bool_or(is_whole), false) as is_whole,
    count(distinct substance) as substances,
    coalesce(bool_or(route = 'systemic'), false) as systemic,
    coalesce(bool_or(route = 'local'), false) as local,
    coalesce(bool_or(route <> 'systemic'), false) as elsewhere
from (
    select
        head as node,
        true as is_whole,
        if(tail in (select whole.head from drug_part as whole), null, tail) as substance
    from drug_part
    union all by name
    select
        part.tail as node,
        true as is_part,
        product.route
    from drug_part as part
    left join product_route as product on part.head = product.node
    union all by name
    select * from product_route
) as said
group by node;

create or replace temp table drug_link as
select
    part.head,
    part.tail,
    whole.substances = 1 and (whole.systemic or not (held.systemic and held.elsewhere)) as same
from drug_part as part
inner join drug as whole on part.head = whole.node
inner join drug as held on part.tail = held.node
where part.is_link;
