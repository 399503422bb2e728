-- Names of ends: in the notes of an admission no name of an end that its rows call unsupported is to stand
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per end and name. Columns: cui, name in small letters without accents
-- Inputs: claim_end, form_step, below_step, kg.name
-- The English names of the end, of its forms and of what is up to two steps below it, and the name that the row prints
with recursive form as (
    select
        cui,
        cui as other
    from claim_end
    union
    select
        form.cui,
        form_step.other
    from form
    inner join form_step on form.other = form_step.one
),

child as (
    select distinct
        form.cui,
        below_step.child as other
    from form
    inner join below_step on form.other = below_step.parent
),

meant as (
    select * from form
    union
    select * from child
    union
    select
        child.cui,
        below_step.child as other
    from child
    inner join below_step on child.other = below_step.parent
)

select
    meant.cui,
    lower(strip_accents(name.name)) as name
from meant
inner join kg.name as name on meant.other = name.cui
union
select
    claim_end.cui,
    lower(strip_accents(claim_end.name)) as name
from claim_end;
