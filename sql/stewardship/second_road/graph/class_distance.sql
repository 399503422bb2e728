-- Pairs of concepts that share a class: a parent or grandparent, or a pharmacologic class
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per ordered pair of concept_pair that is near
-- Output: class_distance(head_cui, tail_cui, steps): how far above the class is, at most two steps
-- Inputs: concept_pair(head_cui, tail_cui), kg.edge. Brands and salts count as their substance; a class with more than
--   a hundred members brings nobody near
create or replace temp table class_distance as
with recursive above as (
    select
        ends.cui,
        ends.cui as class_cui,
        0 as steps
    from (
        select head_cui as cui from concept_pair
        union
        select tail_cui as cui from concept_pair
    ) as ends
    union
    select
        above.cui,
        edge.tail_cui as class_cui,
        above.steps + if(edge.predicate = 'drug_form_of', 0, 1) as steps
    from above
    inner join kg.edge as edge
        on
            above.class_cui = edge.head_cui
            and edge.predicate in ('is_a', 'placed_under', 'has_pharmacologic_class', 'drug_form_of')
    where above.steps + if(edge.predicate = 'drug_form_of', 0, 1) <= 2
),

crowded as (
    select tail_cui as class_cui
    from kg.edge
    where predicate in ('is_a', 'placed_under', 'has_pharmacologic_class')
    group by tail_cui
    having count(distinct head_cui) > 100
)

select
    pair.head_cui,
    pair.tail_cui,
    min(greatest(one.steps, other.steps)) as steps
from concept_pair as pair
inner join above as one on pair.head_cui = one.cui
inner join above as other on pair.tail_cui = other.cui and one.class_cui = other.class_cui
anti join crowded on one.class_cui = crowded.class_cui
group by pair.head_cui, pair.tail_cui;
