-- Relations per vocabulary (SAB) and predicate
-- Grain: one row per (sab, predicate)
-- Inputs: kg.edge
select
    sab,
    predicate,
    count(distinct row(head_cui, tail_cui)) as pairs,
    count(*) as evidence_rows
from kg.edge
group by sab, predicate
order by sab asc, pairs desc, predicate asc;
