-- Edges of the concept graph as numbers
-- Grain: one row per (head, predicate, tail, kind, RUI, direction)
-- Inputs: kg.edge_candidate, kg.edge_kind, kg.predicate_code, kg.drug_link, kg.drug_route (kg/composition.py)
-- Output: kg.edge_code(head, predicate, tail, kind, forward, rui), a staging table in the order of the arrays: by edge,
--   evidence that reads forwards first, then by source and relation
-- Source: DESIGN section 4; implied edges (broader, drug_form_of, contains_drug) follow kg/data/predicates.tsv
create or replace table kg.edge_code as
-- A drug that is only put on the skin does not inherit from the same drug taken by mouth: is_a becomes narrower_than.
with named as (
    select
        max(code) filter (where predicate = 'is_a') as is_a,
        max(code) filter (where predicate = 'narrower_than') as narrower_than,
        max(code) filter (where predicate = 'broader') as broader,
        max(code) filter (where predicate = 'drug_form_of') as drug_form_of,
        max(code) filter (where predicate = 'contains_drug') as contains_drug
    from kg.predicate_code
),

good as (
    select
        edge.head,
        case
            when edge.predicate = named.is_a and not coalesce(head_route.systemic, true) and tail_route.mixed
                then named.narrower_than
            else edge.predicate
        end as predicate,
        edge.tail,
        edge.kind,
        edge.forward,
        edge.rui
    from kg.edge_candidate as edge
    cross join named
    left join kg.drug_route as head_route on edge.head = head_route.node
    left join kg.drug_route as tail_route on edge.tail = tail_route.node
    where edge.refused is null
),

hierarchy as (
    select
        good.head,
        named.broader as predicate,
        good.tail,
        good.kind,
        good.forward,
        good.rui
    from good
    inner join kg.predicate_code as line on good.predicate = line.code and line.implies = 'broader'
    cross join named
),

-- A symmetric link makes each end as broad as the other.
hierarchy_back as (
    select
        good.tail as head,
        named.broader as predicate,
        good.head as tail,
        good.kind,
        good.forward,
        good.rui
    from good
    inner join kg.predicate_code as line on good.predicate = line.code and line.implies = 'broader' and line.symmetric
    cross join named
),

-- A link whose whole is a form of its part joins two names of the same drug; any other says what holds what.
drug as (
    select
        good.head,
        case when link.same then named.drug_form_of else named.contains_drug end as predicate,
        good.tail,
        good.kind,
        good.forward,
        good.rui
    from good
    inner join kg.predicate_code as line on good.predicate = line.code and line.implies = 'contains_drug'
    inner join kg.drug_link as link on good.head = link.head and good.tail = link.tail
    cross join named
),

every as (
    select distinct * from (
        select * from good
        union all by name
        select * from hierarchy
        union all by name
        select * from hierarchy_back
        union all by name
        select * from drug
    ) as made
),

kind as (
    select distinct
        kind,
        evidence_rank
    from kg.edge_kind
)

select
    every.head,
    every.predicate,
    every.tail,
    every.kind,
    every.forward,
    every.rui
from every
inner join kind on every.kind = kind.kind
order by
    every.head asc,
    every.predicate asc,
    every.tail asc,
    every.forward desc,
    kind.evidence_rank asc,
    every.rui asc,
    every.kind asc;
