-- Lines of N-Triples and N-Quads
-- Grain: node_statement, one row per concept; edge_statement, one row per canonical edge; triples and nquads, one row
--   per line
-- Inputs: graph_node, graph_edge (registered by kg/export.py; each can be read once)
-- Output: node_statement, edge_statement, triples(line), nquads(line), views. An edge has its predicate, the inverse,
--   the Biolink predicate, and an rdf:Statement with sources, RELA and RUI (a RELA may read either way); as quads each
--   source states them in its own graph. Source: SKOS, RDF 1.1 N-Quads, Biolink model; hasSTY of BioPortal's umls2rdf
create or replace temp macro iri(base, name) as '<' || base || name || '>';
create or replace temp macro concept(cui) as
if(
    contains(cui, ':'),
    iri('https://bioregistry.io/', cui),
    iri('https://uts.nlm.nih.gov/uts/umls/concept/', cui)
);
create or replace temp macro biolink(curie) as iri('https://w3id.org/biolink/vocab/', split_part(curie, ':', 2));
create or replace temp macro rdf(name) as iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#', name);
create or replace temp macro skos(name) as iri('http://www.w3.org/2004/02/skos/core#', name);
create or replace temp macro ours(kind, name) as iri('urn:ontoground:', kind || ':' || url_encode(name));
create or replace temp macro escaped(text) as
replace(replace(replace(replace(text, '\', '\\'), '"', '\"'), chr(10), '\n'), chr(13), '\r');
create or replace temp macro literal(text) as '"' || escaped(text) || '"';
create or replace temp macro triple(about, predicate, value) as about || ' ' || predicate || ' ' || value;

create or replace temp view node_statement as
select
    list_concat(
        [
            triple(concept(cui), rdf('type'), skos('Concept')),
            triple(concept(cui), skos('prefLabel'), literal(name) || '@en'),
            triple(concept(cui), skos('notation'), literal(cui))
        ],
        list_transform(synonyms, lambda other: triple(concept(cui), skos('altLabel'), literal(other) || '@en')),
        list_transform(category, lambda name: triple(concept(cui), biolink('biolink:category'), biolink(name))),
        list_transform(coalesce(types, []), lambda tui: triple(
            concept(cui),
            '<http://bioportal.bioontology.org/ontologies/umls/hasSTY>',
            iri('http://purl.bioontology.org/ontology/STY/', tui)
        ))
    ) as lines
from graph_node;

create or replace temp view edge_statement as
select
    list_concat(
        [
            triple(concept(head), ours('predicate', predicate), concept(tail)),
            triple(concept(tail), ours('predicate', inverse), concept(head)),
            triple(concept(head), biolink(biolink), concept(tail)),
            triple(ours('edge', edge::varchar), rdf('type'), rdf('Statement')),
            triple(ours('edge', edge::varchar), rdf('subject'), concept(head)),
            triple(ours('edge', edge::varchar), rdf('predicate'), ours('predicate', predicate)),
            triple(ours('edge', edge::varchar), rdf('object'), concept(tail))
        ],
        if(predicate = 'is_a', [
            triple(concept(head), skos('broader'), concept(tail)),
            triple(concept(tail), skos('narrower'), concept(head))
        ], [])
    ) as lines,
    several(list_transform(evidence, lambda piece: ours('source', piece.sab))) as sources,
    several(flatten(list_transform(evidence, lambda piece: list_transform(
        list_filter([
            ['<http://purl.org/dc/terms/source>', ours('source', piece.sab), piece.sab],
            [ours('predicate', 'rela'), literal(piece.rela), piece.rela],
            [ours('predicate', 'rui'), literal(piece.rui), piece.rui]
        ], lambda part: part[3] != ''),
        lambda part: {
            'line': triple(ours('edge', edge::varchar), part[1], part[2]), 'source': ours('source', piece.sab)
        }
    )))) as said
from graph_edge;

create or replace temp view triples as
select unnest(lines) || ' .' as line
from node_statement
union all
select unnest(list_concat(lines, several(list_transform(said, lambda piece: piece.line)))) || ' .' as line
from edge_statement;

create or replace temp view nquads as
select unnest(lines) || ' .' as line
from node_statement
union all
select
    unnest(list_concat(
        flatten(list_transform(sources, lambda source: list_transform(lines, lambda line: line || ' ' || source))),
        list_transform(said, lambda piece: piece.line || ' ' || piece.source)
    )) || ' .' as line
from edge_statement;
