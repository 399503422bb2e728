-- Rows of MRREL that a release states twice
-- Grain: one row per (head, predicate, tail, kind, RUI, direction). Inputs: edge_row, the view
-- Output: edge_row without repetitions. Rows of a release differ in their RUI, so that this is rarely needed, and to
--   look for repetitions beforehand would take as long as all of the sorting. Source: DESIGN section 3
create or replace temp table edge_row_once as
select distinct * from edge_row;

create or replace temp view edge_row as
select * from edge_row_once;
