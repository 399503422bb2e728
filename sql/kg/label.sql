-- Other names of concepts
-- Grain: one row per concept and name that is not its preferred one. Inputs: kg.name, kg.node, kg.concept
-- Output: none; kg/writing.py reads node, name. Source: docs/architecture.md
select distinct
    node.node,
    name.name
from kg.name as name
inner join kg.node as node on name.cui = node.cui
inner join kg.concept as concept on name.cui = concept.cui
where name.name is distinct from concept.name
order by node.node, name.name;
