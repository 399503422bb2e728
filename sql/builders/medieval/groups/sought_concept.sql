-- Concepts whose names in a note leave unclear what statements can name
-- Grain: one row per concept of a statement and concept whose names are looked for
-- Output: sought_concept(code, cui). Inputs: coded, sought_closure, area, area_step, namesake
-- The concept, its forms, combinations and ingredients, its descendants within two steps, its namesakes, and what is up
--   to two steps above it (for a drug, its classes too). An ancestor that is no area is too general: "disease" stands in
--   nearly every note, and says nothing of any. Source: docs/definitions.md#unclear
create or replace temp table sought_concept as
with form as (
    select
        coded.code,
        closure.other as cui
    from sought_closure as closure
    inner join coded on closure.cui = coded.cui
    where closure.relation in ('self', 'equivalent')
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
    coded.code,
    closure.other as cui
from sought_closure as closure
inner join coded on closure.cui = coded.cui
where closure.relation != 'ancestor'
union
select
    above.code,
    above.cui
from above
where
    above.cui in (
        select area.area_cui from area
        where area.cui != area.area_cui
    )
union
select
    coded.code,
    namesake.other as cui
from namesake
inner join coded on namesake.cui = coded.cui
union
select
    coded.code,
    namesake.cui
from namesake
inner join coded on namesake.other = coded.cui;
