-- Staging tables of the graph that are not kept
-- Grain: none. Inputs and output: it drops kg.node, kg.edge_candidate, kg.composition, kg.single_drug and the settings'
--   tables. Source: docs/architecture.md
drop table if exists kg.edge_candidate;
drop table if exists kg.composition;
drop table if exists kg.single_drug;
drop table if exists kg.node;
drop table if exists kg.atom_rank;
drop table if exists kg.language;
drop table if exists kg.suppressed;
