-- Relations of the release that no line of the relation table covers
-- Grain: one row per (RELA, REL, SAB)
-- Inputs: kg.relation_use
-- Output: kg.uncovered(rela, rel, sab, n). Source: DESIGN section 4, FACTS on MED-RT
create or replace table kg.uncovered as
select
    rela,
    rel,
    sab,
    n
from kg.relation_use
where predicate is null
order by n desc, rela asc, rel asc, sab asc;
