-- Nodes of a KGX export
-- Grain: one row per concept
-- Inputs: node, category, wanted (registered by kg/export.py)
-- Output: nodes.tsv. Source: KGX format, https://github.com/biolink/kgx
select
    'UMLS:' || node.cui as id,
    category.category,
    regexp_replace(node.name, '[\t\r\n]', ' ', 'g') as name,
    'infores:umls' as provided_by
from node
inner join category on node.mask = category.mask
inner join wanted on node.node = wanted.node
order by node.node;
