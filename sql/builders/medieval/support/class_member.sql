-- Drugs that a mention of their class may mean: "antibiotics" may be ciprofloxacin, under whatever name it goes
-- Grain: one row per concept of a mention and drug
-- Output: class_member(cui, other)
-- Inputs: closure, namesake, linked_base, kg.edge, kg.concept
-- Within two steps of is_a, or of a drug to its pharmacologic class, which sources state in place of is_a. The class
--   may be called by a namesake (insulin, insulins); a brand or salt is in the classes of its substance.
--   Source: docs/definitions.md#unclear
create or replace temp table class_member as
with step as (
    select distinct
        edge.head_cui as member,
        edge.tail_cui as class
    from kg.edge as edge
    inner join kg.concept as concept on edge.head_cui = concept.cui
    where
        edge.predicate in ('is_a', 'placed_under', 'has_pharmacologic_class') and list_contains(concept.groups, 'CHEM')
),

meant as (
    select
        cui,
        other as class
    from closure
    where relation in ('self', 'equivalent')
    union
    select
        closure.cui,
        namesake.other as class
    from closure
    inner join namesake on closure.cui = namesake.cui
    where closure.relation = 'self'
),

near as (
    select
        meant.cui,
        step.member
    from meant
    inner join step on meant.class = step.class
    union
    select
        meant.cui,
        lower_step.member
    from meant
    inner join step on meant.class = step.class
    inner join step as lower_step on step.member = lower_step.class
),

form as (
    select distinct
        closure.other as member,
        unnest([closure.cui, linked_base.base_cui]) as other
    from closure
    inner join linked_base on closure.cui = linked_base.cui
    where closure.relation = 'equivalent'
)

select
    near.cui,
    near.member as other
from near
union
select
    near.cui,
    form.other
from near
inner join form on near.member = form.member;
