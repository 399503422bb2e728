-- Links between a drug, its brands, salts, products and ingredients
-- Grain: one row per pair; predicates that imply contains_drug
-- Inputs: kg.edge_candidate, kg.predicate, kg.node
-- Output: kg.composition(head, tail), node numbers, a staging table. Source: kg/data/predicates.tsv
create or replace table kg.composition as
select distinct
    head.node as head,
    tail.node as tail
from kg.edge_candidate as edge
inner join kg.predicate as line on edge.predicate = line.predicate and line.implies = 'contains_drug'
inner join kg.node as head on edge.head_cui = head.cui
inner join kg.node as tail on edge.tail_cui = tail.cui
where edge.refused is null
order by head.node, tail.node;
