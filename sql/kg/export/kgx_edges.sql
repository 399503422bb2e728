-- Edges of a KGX export
-- Grain: one row per canonical edge
-- Inputs: edge, predicate, source, wanted (registered by kg/export.py)
-- Output: edges.tsv. Source: KGX format, https://github.com/biolink/kgx
select
    'ontoground:' || edge.edge as id,
    'UMLS:' || edge.head_cui as subject,
    predicate.biolink as predicate,
    'UMLS:' || edge.tail_cui as object,
    'ontoground:' || predicate.predicate as relation,
    'infores:umls' as primary_knowledge_source,
    'knowledge_assertion' as knowledge_level,
    'manual_agent' as agent_type,
    source.sab,
    edge.rui
from edge
inner join predicate on edge.code = predicate.code
inner join source on edge.sab = source.number
where
    edge.head in (select node from wanted)
    and edge.tail in (select node from wanted)
order by edge.edge;
