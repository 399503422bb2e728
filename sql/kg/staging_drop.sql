-- Staging tables of the graph that are not kept
-- Grain: none. Inputs and output: it drops what only the build needs. Source: docs/architecture.md
drop table if exists kg.edge_candidate;
drop table if exists kg.edge_code;
drop table if exists kg.edge_kind;
drop table if exists kg.predicate_code;
drop table if exists kg.label;
drop table if exists kg.composition;
drop table if exists kg.drug_link;
drop table if exists kg.drug_route;
drop table if exists kg.product_route;
drop table if exists kg.dose_form_word;
drop table if exists kg.node;
drop table if exists kg.atom_rank;
drop table if exists kg.language;
drop table if exists kg.suppressed;
