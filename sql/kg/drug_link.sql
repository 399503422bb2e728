-- Links between drugs and what they hold
-- Grain: one row per (whole, part). Inputs: edge_row, kg.predicate_code
-- Output: none; kg/build.py reads head (the whole: a brand, a salt, a product) and tail (the part)
-- Source: kg/data/predicates.tsv (implies)
select distinct
    row.head,
    row.tail
from edge_row as row
inner join kg.predicate_code as code on row.predicate = code.code
where code.implies = 'contains_drug' and row.refused is null
order by row.head, row.tail;
