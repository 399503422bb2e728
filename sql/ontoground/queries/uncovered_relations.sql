-- Relations of the release that no line of the relation table covers
-- Grain: one row per (rela, rel, sab), most rows first
-- Inputs: kg.uncovered
select
    rela,
    rel,
    sab,
    n
from kg.uncovered
order by n desc, rela asc, rel asc, sab asc;
