-- Staging tables of the graph that are not kept
-- Grain: none. Inputs and output: it drops what only the build needs. Source: docs/architecture.md
drop table if exists edge_kind;
drop table if exists edge_row;
drop table if exists concept_type;
drop table if exists product_route;
drop table if exists kg.dose_form_word;
drop table if exists kg.atom_rank;
drop table if exists kg.language;
drop table if exists kg.suppressed;
