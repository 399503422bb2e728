-- Concepts that carry the same preferred name in one semantic group: one thing under several CUIs
-- Grain: one row per ordered pair, each concept with itself too
-- Output: twin(cui, other). Inputs: kg.concept
-- Sources that map one of their terms to several CUIs split what is known of it: falsity looks at all of them
create or replace temp table twin as
with named as (
    select
        cui,
        lower(name) as name,
        unnest(groups) as semantic_group
    from kg.concept
),

crowded as (
    select
        name,
        semantic_group
    from named
    group by name, semantic_group
    having count(*) between 2 and 20
)

select distinct
    one.cui,
    two.cui as other
from named as one
inner join crowded on one.name = crowded.name and one.semantic_group = crowded.semantic_group
inner join named as two on one.name = two.name and one.semantic_group = two.semantic_group
union
select
    concept.cui,
    concept.cui as other
from kg.concept as concept;
