-- Relations of the release that no line of the relation table covers
-- Grain: one row per (RELA, REL, SAB)
-- Inputs: kg.relation_use
-- Output: kg.uncovered(rela, rel, sab, n). Source: docs/definitions.md#edge
create or replace table kg.uncovered as
select * exclude (predicate, direction)
from kg.relation_use
where predicate is null
order by n desc, rela asc, rel asc, sab asc;
