-- What a mention must mean to attest an end of a statement, and what it or a code must mean to leave it unclear
-- Grain: one row per end and concept
-- Output: attesting(cui, mentioned), unclear_by(cui, mentioned, by_code)
-- Inputs: labelled, kg.edge
-- Walked from the end to the mentions, where the builder walks from the mentions to the ends. An end is attested by its
--   forms and by its descendants in any form; it is unclear by these, and by mentions of ancestors within two steps
create or replace temp table form_step as
select
    head_cui as one,
    tail_cui as other
from kg.edge
where predicate = 'drug_form_of'
union
select
    tail_cui as one,
    head_cui as other
from kg.edge
where predicate = 'drug_form_of';

create or replace temp table attesting as
with recursive below as (
    select
        labelled.end_cui as cui,
        labelled.end_cui as mentioned
    from (
        select head_cui as end_cui from labelled
        union
        select tail_cui as end_cui from labelled
    ) as labelled
    union
    select
        below.cui,
        edge.head_cui as mentioned
    from below
    inner join kg.edge as edge on below.mentioned = edge.tail_cui
    where edge.predicate = 'is_a'
),

form as (
    select
        below.cui,
        below.mentioned
    from below
    union
    select
        form.cui,
        form_step.other as mentioned
    from form
    inner join form_step on form.mentioned = form_step.one
)

select distinct
    form.cui,
    form.mentioned
from form;

create or replace temp table unclear_by as
with recursive parent as (
    select distinct
        head_cui as child,
        tail_cui as parent
    from kg.edge
    where predicate = 'is_a'
),

above as (
    select
        labelled.end_cui as cui,
        parent.parent as mentioned
    from (
        select head_cui as end_cui from labelled
        union
        select tail_cui as end_cui from labelled
    ) as labelled
    inner join parent on labelled.end_cui = parent.child
    union
    select
        labelled.end_cui as cui,
        grandparent.parent as mentioned
    from (
        select head_cui as end_cui from labelled
        union
        select tail_cui as end_cui from labelled
    ) as labelled
    inner join parent on labelled.end_cui = parent.child
    inner join parent as grandparent on parent.parent = grandparent.child
),

form as (
    select
        above.cui,
        above.mentioned
    from above
    union
    select
        form.cui,
        form_step.other as mentioned
    from form
    inner join form_step on form.mentioned = form_step.one
)

select
    attesting.cui,
    attesting.mentioned,
    true as by_code
from attesting
union all
-- a combination leaves its ingredients unclear, and an ingredient its combinations
select
    edge.head_cui as cui,
    edge.tail_cui as mentioned,
    true as by_code
from kg.edge as edge
inner join (select distinct attesting.cui from attesting) as ended on edge.head_cui = ended.cui
where edge.predicate = 'contains_drug'
union
select
    edge.tail_cui as cui,
    edge.head_cui as mentioned,
    true as by_code
from kg.edge as edge
inner join (select distinct attesting.cui from attesting) as ended on edge.tail_cui = ended.cui
where edge.predicate = 'contains_drug'
union all
select distinct
    form.cui,
    form.mentioned,
    false as by_code
from form;
