-- Nodes and edges of a KGX export
-- Grain: kgx_node and kgx_nodes, one row per concept; kgx_edge and kgx_edges, one row per canonical edge
-- Inputs: graph_node, graph_edge (registered by kg/export.py; each can be read once)
-- Output: kgx_node, kgx_edge, views with lists, as KGX JSON Lines have them; kgx_nodes, kgx_edges, the same as its TSV
--   has them. infores: UMLS' abbreviation of the source, in lower case; of several sources sab has all
-- Source: KGX format, https://github.com/biolink/kgx/blob/master/specification/kgx-format.md
create or replace temp macro curie(cui) as if(contains(cui, ':'), cui, 'UMLS:' || cui);
create or replace temp macro one_line(text) as regexp_replace(text, '[\t\r\n]', ' ', 'g');
create or replace temp macro several(texts) as list_sort(list_distinct(texts));

create or replace temp macro infores(sab) as 'infores:' || lower(replace(sab, '_', '-'));

create or replace temp view kgx_node as
select
    curie(cui) as id,
    category,
    one_line(name) as name,
    list_transform(synonyms, lambda other: one_line(other)) as synonym,
    infores(if(contains(cui, ':'), split_part(cui, ':', 1), 'UMLS')) as provided_by,
    list_transform(types, lambda tui: 'STY:' || tui) as semantic_types
from graph_node;

create or replace temp view kgx_edge as
select
    'ontoground:' || edge as id,
    curie(head) as subject,
    biolink as predicate,
    curie(tail) as object,
    'ontoground:' || predicate as relation,
    infores(several(list_transform(evidence, lambda piece: piece.sab))[1]) as primary_knowledge_source,
    'knowledge_assertion' as knowledge_level,
    'manual_agent' as agent_type,
    several(list_transform(evidence, lambda piece: piece.sab)) as sab,
    several(list_transform(evidence, lambda piece: piece.rela)) as rela,
    several(list_transform(evidence, lambda piece: piece.rui)) as rui
from graph_edge;

create or replace temp view kgx_nodes as
select
    * replace (
        array_to_string(category, '|') as category,
        array_to_string(synonym, '|') as synonym,
        array_to_string(semantic_types, '|') as semantic_types
    )
from kgx_node;

create or replace temp view kgx_edges as
select
    * replace (
        array_to_string(sab, '|') as sab,
        array_to_string(rela, '|') as rela,
        array_to_string(rui, '|') as rui
    )
from kgx_edge;
