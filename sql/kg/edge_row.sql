-- Edges of the concept graph as numbers, those that others imply included
-- Grain: one row per (head, predicate, tail, kind, RUI, direction), as often as MRREL has it
-- Inputs: edge_candidate, kg.predicate_code, drug_link (kg/composition.py)
-- Output: edge_row(head, predicate, tail, kind, forward, rui), a view
-- Source: DESIGN section 4; implied edges (broader, drug_form_of, contains_drug) follow kg/data/predicates.tsv
create or replace temp view edge_row as
with good as not materialized (
    select
        head,
        predicate,
        tail,
        kind,
        forward,
        rui
    from edge_candidate
    where refused is null
),

named as (
    select
        max(code) filter (where predicate = 'broader') as broader,
        max(code) filter (where predicate = 'drug_form_of') as drug_form_of,
        max(code) filter (where predicate = 'contains_drug') as contains_drug
    from kg.predicate_code
)

select * from good
union all
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
union all
-- A symmetric link makes each end as broad as the other.
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
union all
-- A link whose whole is a form of its part joins two names of the same drug; any other says what holds what.
select
    good.head,
    case when link.same then named.drug_form_of else named.contains_drug end as predicate,
    good.tail,
    good.kind,
    good.forward,
    good.rui
from good
inner join kg.predicate_code as line on good.predicate = line.code and line.implies = 'contains_drug'
inner join drug_link as link on good.head = link.head and good.tail = link.tail
cross join named;
