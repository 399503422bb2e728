-- Edges whose one piece of evidence is read in both directions
-- Grain: one row per pair and predicate, where the predicate has a direction
-- Inputs: kg.edge, kg.predicate
-- Caveat: two rows of a vocabulary may contradict each other; one row (RUI) must not
select
    e.head_cui,
    e.predicate,
    e.tail_cui,
    e.sab,
    e.rui
from kg.edge as e
inner join kg.predicate as p on e.predicate = p.predicate
inner join kg.edge as b
    on
        e.head_cui = b.tail_cui and e.tail_cui = b.head_cui and e.predicate = b.predicate and e.rui = b.rui
        and e.sab = b.sab
where e.predicate <> p.inverse and e.predicate not in ('broader') and e.head_cui < e.tail_cui
order by e.head_cui, e.predicate, e.tail_cui, e.sab, e.rui;
