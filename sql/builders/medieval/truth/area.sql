-- Areas of medicine: a concept and those of its ancestors that are not too general to say something
-- Grain: area, one row per concept and area; area_step, one per concept and direct ancestor
-- Output: area(cui, area_cui), area_step(cui, above_cui)
-- Inputs: near_code, found_end, kg.edge_code, kg.predicate_code, kg.node, kg.concept, twin
-- Too general: an ancestor of more than `max_area_share` of the concepts of the semantic group that have ancestors.
--   Source: docs/definitions.md#area
create or replace temp table area_step as
select
    own.cui,
    above.cui as above_cui
from (
    select distinct
        edge.head,
        edge.tail
    from kg.edge_code as edge
    inner join kg.predicate_code as code on edge.predicate = code.code
    where code.predicate in ('is_a', 'placed_under', 'has_pharmacologic_class')
) as step
inner join kg.node as own on step.head = own.node
inner join kg.node as above on step.tail = above.node;

create or replace temp table area as
with recursive wanted as (
    select node.cui
    from (
        select head as node from near_code
        union
        select tail as node from near_code
    ) as near
    inner join kg.node as node on near.node = node.node
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
