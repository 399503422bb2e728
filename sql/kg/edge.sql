-- Edges of the concept graph with their evidence
-- Grain: one row per (head, predicate, tail, RELA, REL, SAB, RUI, direction)
-- Inputs: kg.edge_candidate, kg.predicate, kg.node, kg.single_drug (concepts that resolve to one substance)
-- Output: kg.edge(head_cui, predicate, tail_cui, rela, rel, sab, rui, direction), read head PREDICATE tail; direction
--   tells whether the row of MRREL itself reads this way (forward) or the other (inverse). Symmetric: head < tail.
-- Source: DESIGN section 4; implied edges (broader, same_drug_as, contains_drug) follow kg/data/predicates.tsv
create or replace table kg.edge as
with good as (
    select * exclude (refused)
    from kg.edge_candidate
    where refused is null
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

-- A link whose left side holds one substance only joins two names of the same drug.
drug as (
    select
        case when single.cui is null then 'contains_drug' else 'same_drug_as' end as predicate,
        case
            when single.cui is null then good.head_cui else least(good.head_cui, good.tail_cui)
        end as head_cui,
        case
            when single.cui is null then good.tail_cui else greatest(good.head_cui, good.tail_cui)
        end as tail_cui,
        good.rela,
        good.rel,
        good.sab,
        good.rui,
        good.direction
    from good
    inner join kg.predicate as line on good.predicate = line.predicate
    inner join kg.node as head on good.head_cui = head.cui
    inner join kg.node as tail on good.tail_cui = tail.cui
    left join kg.single_drug as single on good.head_cui = single.cui
    where
        line.implies = 'contains_drug'
        and (
            single.cui is null
            or (list_has_any(head.groups, ['CHEM', 'DEVI']) and list_has_any(tail.groups, ['CHEM', 'DEVI']))
        )
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
    rel,
    sab,
    rui,
    direction
from every
order by head_cui, predicate, tail_cui, direction, sab, rela, rui, rel;
