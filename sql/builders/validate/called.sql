-- Names that must not stand in the notes of an admission: those of the ends that rows call unsupported
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per end and name. Columns: cui, name in small letters without accents
-- Inputs: labelled (all rows), form_step, kg.edge, kg.name
-- The English names of the end, of its forms and of what is up to two steps below it, and the name that the row prints
with recursive ended as (
    select distinct
        if(replaced_end = 'head', head_cui, tail_cui) as cui,
        if(replaced_end = 'head', head_name, tail_name) as name
    from labelled
    where not is_supported
),

form as (
    select
        cui,
        cui as other
    from ended
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
        edge.head_cui as other
    from form
    inner join kg.edge as edge on form.other = edge.tail_cui
    where edge.predicate in ('is_a', 'placed_under')
),

meant as (
    select * from form
    union
    select * from child
    union
    select
        child.cui,
        edge.head_cui as other
    from child
    inner join kg.edge as edge on child.other = edge.tail_cui
    where edge.predicate in ('is_a', 'placed_under')
)

select
    meant.cui,
    lower(strip_accents(name.name)) as name
from meant
inner join kg.name as name on meant.other = name.cui
union
select
    ended.cui,
    lower(strip_accents(ended.name)) as name
from ended;
