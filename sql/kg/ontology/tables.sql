-- Tables of what the files of ontologies give, empty
-- Grain: class, one row per class and file; synonym, per name; xref, per code that a class is; relation, per edge
-- Output: ontology.class, ontology.synonym, ontology.xref, ontology.relation. Identifiers as kg/ontology/content.py has
--   them; stub: known by its name alone; branch: where it stands, as its reader says. Source: docs/ontologies.md
create or replace table ontology.class (
    id varchar not null,
    name varchar not null,
    sab varchar not null,
    definition varchar,
    obsolete boolean not null,
    stub boolean not null,
    branch varchar not null,
    file varchar not null
);

create or replace table ontology.synonym (
    id varchar not null,
    name varchar not null,
    kind varchar not null,
    file varchar not null
);

create or replace table ontology.xref (
    id varchar not null,
    target varchar not null,
    kind varchar not null,
    file varchar not null
);

create or replace table ontology.relation (
    head varchar not null,
    property varchar not null,
    tail varchar not null,
    sab varchar not null,
    file varchar not null
);
