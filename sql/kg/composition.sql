-- Links between a drug, its brands, salts, products and ingredients
-- Grain: one row per pair; predicates that imply contains_drug
-- Inputs: edge_candidate, kg.predicate_code
-- Output: composition(head, tail), node numbers, a staging table. Source: kg/data/predicates.tsv
create or replace temp table composition as
select distinct
    edge.head,
    edge.tail
from edge_candidate as edge
inner join kg.predicate_code as line on edge.predicate = line.code and line.implies = 'contains_drug'
where edge.refused is null
order by edge.head, edge.tail;
