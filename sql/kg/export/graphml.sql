-- Lines of a GraphML file
-- Grain: one row per line: an element each
-- Inputs: graph_node, graph_edge (registered by kg/export.py; each can be read once), the macros of kgx.sql
-- Output: graphml(line), a view. Source: GraphML 1.0, http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd; characters
--   that XML 1.0 cannot hold are blanks
create or replace temp macro marked(text) as
replace(replace(replace(replace(text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;');
create or replace temp macro xml(text) as marked(regexp_replace(text, '[\x00-\x08\x0B\x0C\x0E-\x1F]', ' ', 'g'));
create or replace temp macro element(key, text) as '<data key="' || key || '">' || xml(text) || '</data>';
create or replace temp macro key(name, kind) as
'<key id="' || name || '" for="' || kind || '" attr.name="' || name || '" attr.type="string"/>';

create or replace temp view graphml as
select
    unnest(flatten([
        ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'],
        list_transform(['name', 'category', 'types'], lambda name: key(name, 'node')),
        list_transform(['predicate', 'biolink', 'sab', 'rela', 'rui'], lambda name: key(name, 'edge')),
        ['<graph id="ontoground" edgedefault="directed">']
    ])) as line
union all
select
    '<node id="' || xml(cui) || '">' || element('name', one_line(name))
    || element('category', array_to_string(category, '|'))
    || element('types', coalesce(array_to_string(types, '|'), '')) || '</node>' as line
from graph_node
union all
select
    '<edge id="' || edge || '" source="' || xml(head) || '" target="' || xml(tail) || '">'
    || element('predicate', predicate) || element('biolink', biolink)
    || element('sab', array_to_string(several(list_transform(evidence, lambda piece: piece.sab)), '|'))
    || element('rela', array_to_string(several(list_transform(evidence, lambda piece: piece.rela)), '|'))
    || element('rui', array_to_string(several(list_transform(evidence, lambda piece: piece.rui)), '|')) || '</edge>'
from graph_edge
union all
select unnest(['</graph>', '</graphml>']) as line;
