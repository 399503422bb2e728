-- Relations per predicate
-- Grain: one row per predicate of the graph
-- Inputs: kg.edge
select
    predicate,
    count(distinct row(head_cui, tail_cui)) as pairs,
    count(*) as evidence_rows,
    count(distinct head_cui) as heads,
    count(distinct tail_cui) as tails,
    count(distinct sab) as vocabularies
from kg.edge
group by predicate
order by pairs desc, predicate asc;
