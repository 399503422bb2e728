-- Names of a concept besides its preferred one
-- Grain: one row per concept and name
-- Inputs: kg.name, kg.node, kg.concept
-- Output: label(node, name), a staging table, by node and name. Source: docs/architecture.md
create or replace temp table label as
select distinct
    node.node,
    name.name
from kg.name as name
inner join kg.node as node on name.cui = node.cui
inner join kg.concept as concept on name.cui = concept.cui
where name.name <> concept.name
order by node.node, name.name;
