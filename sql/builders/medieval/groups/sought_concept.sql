-- Concepts whose names in a note leave unclear what statements can name
-- Grain: one row per concept of a statement and concept whose names are looked for
-- Output: sought_concept(code, cui, wider)
-- Inputs: nameable, closure, sought_closure (of the others), area, area_step, namesake
-- The concept, its forms, combinations and ingredients, its descendants within two steps, its namesakes, and what is up
--   to two steps above it (wider; for a drug, its classes too). An ancestor that is no area is too general: "disease"
--   stands in every other note, and says nothing of any. Source: docs/definitions.md#unclear
create or replace temp table sought_concept as
with near as (
    select
        nameable.code,
        either.other as cui,
        either.relation
    from (
        select * from closure
        union all
        select * from sought_closure
    ) as either
    inner join nameable on either.cui = nameable.cui
    where either.relation != 'ancestor'
),

form as (
    select
        code,
        cui
    from near
    where relation in ('self', 'equivalent')
),

parent as (
    select distinct
        form.code,
        area_step.above_cui as cui
    from form
    inner join area_step on form.cui = area_step.cui
),

above as (
    select
        parent.code,
        parent.cui
    from parent
    union
    select
        parent.code,
        area_step.above_cui as cui
    from parent
    inner join area_step on parent.cui = area_step.cui
)

select
    near.code,
    near.cui,
    false as wider
from near
union
select
    above.code,
    above.cui,
    true as wider
from above
where
    above.cui in (
        select area.area_cui from area
        where area.cui != area.area_cui
    )
union
select
    nameable.code,
    namesake.other as cui,
    false as wider
from namesake
inner join nameable on namesake.cui = nameable.cui
union
select
    nameable.code,
    namesake.cui,
    false as wider
from namesake
inner join nameable on namesake.other = nameable.cui;
