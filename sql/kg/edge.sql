-- Edges of the concept graph with their evidence
-- Grain: one row per (head, predicate, tail, RELA, REL, SAB, RUI, direction)
-- Inputs: kg.edge_candidate, kg.predicate, kg.node, kg.drug_link, kg.drug_route (kg/composition.py)
-- Output: kg.edge(head_cui, predicate, tail_cui, rela, rel, sab, rui, direction), read head PREDICATE tail; direction
--   tells whether the row of MRREL itself reads this way (forward) or the other (inverse). Symmetric: head < tail.
-- Source: DESIGN section 4; implied edges (broader, drug_form_of, contains_drug) follow kg/data/predicates.tsv
create or replace table kg.edge as
-- A drug that is only put on the skin does not inherit from the same drug taken by mouth: is_a becomes narrower_than.
with good as (
    select
        edge.head_cui,
        case
            when edge.predicate = 'is_a' and not coalesce(head_route.systemic, true) and tail_route.mixed
                then 'narrower_than'
            else edge.predicate
        end as predicate,
        edge.tail_cui,
        edge.rela,
        edge.rel,
        edge.sab,
        edge.rui,
        edge.direction
    from kg.edge_candidate as edge
    left join kg.drug_route as head_route on edge.head_cui = head_route.cui
    left join kg.drug_route as tail_route on edge.tail_cui = tail_route.cui
    where edge.refused is null
),

hierarchy as (
    select
        good.head_cui,
        line.implies as predicate,
        good.tail_cui,
        good.rela,
        good.rel,
        good.sab,
        good.rui,
        good.direction
    from good
    inner join kg.predicate as line on good.predicate = line.predicate
    where line.implies = 'broader'
),

-- A symmetric link makes each end as broad as the other.
hierarchy_back as (
    select
        good.tail_cui as head_cui,
        line.implies as predicate,
        good.head_cui as tail_cui,
        good.rela,
        good.rel,
        good.sab,
        good.rui,
        good.direction
    from good
    inner join kg.predicate as line on good.predicate = line.predicate
    where line.implies = 'broader' and line.symmetric
),

-- A link whose whole is a form of its part joins two names of the same drug; any other says what holds what.
drug as (
    select
        good.head_cui,
        case when link.same then 'drug_form_of' else 'contains_drug' end as predicate,
        good.tail_cui,
        good.rela,
        good.rel,
        good.sab,
        good.rui,
        good.direction
    from good
    inner join kg.predicate as line on good.predicate = line.predicate
    inner join kg.node as head on good.head_cui = head.cui
    inner join kg.node as tail on good.tail_cui = tail.cui
    inner join kg.drug_link as link on head.node = link.head and tail.node = link.tail
    where line.implies = 'contains_drug'
),

every as (
    select * from good
    union all by name
    select * from hierarchy
    union all by name
    select * from hierarchy_back
    union all by name
    select * from drug
)

select distinct
    head_cui,
    predicate,
    tail_cui,
    rela,
    rel as rel,
    sab as sab,
    rui as rui,
    direction
from every
order by head_cui, predicate, tail_cui, direction, sab, rela, rui, rel;
