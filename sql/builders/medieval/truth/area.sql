-- Areas of medicine: a concept and those of its ancestors that are not too general to say something
-- Grain: area, one row per concept and area; area_step, one per concept and direct ancestor
-- Output: area(cui, area_cui), area_step(cui, above_cui)
-- Inputs: near_fact, found_end, kg.edge, twin
-- Too general: an ancestor of more than `max_area_share` of the concepts of the semantic group that have ancestors.
--   Source: docs/definitions.md#area
create or replace temp table area_step as
select distinct
    head_cui as cui,
    tail_cui as above_cui
from kg.edge
where predicate in ('is_a', 'placed_under', 'has_pharmacologic_class');

create or replace temp table area as
with recursive wanted as (
    select head_cui as cui from near_fact
    union
    select tail_cui as cui from near_fact
    union
    select cui from found_end
),

climb as (
    select
        wanted.cui,
        twin.other as area_cui
    from wanted
    inner join twin on wanted.cui = twin.cui
    union
    select
        climb.cui,
        area_step.above_cui as area_cui
    from climb
    inner join area_step on climb.area_cui = area_step.cui
),

breadth as (
    select
        area_cui,
        count(*) as n
    from climb
    group by area_cui
),

grouped as (
    select
        climb.cui,
        climb.area_cui,
        concept.groups[1] as semantic_group
    from climb
    inner join kg.concept as concept on climb.cui = concept.cui
),

placed as (
    select
        semantic_group,
        count(distinct cui) as n
    from grouped
    where cui != area_cui
    group by semantic_group
)

select
    grouped.cui,
    grouped.area_cui
from grouped
inner join breadth on grouped.area_cui = breadth.area_cui
left join placed on grouped.semantic_group = placed.semantic_group
where grouped.cui = grouped.area_cui or breadth.n <= getvariable('max_area_share') * placed.n;
