-- What a mention must mean to attest an end of a statement, and what it or a code must mean to leave it unclear
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per end and concept
-- Output: attesting(cui, mentioned), unclear_by(cui, mentioned, by_code); form_step(one, other) and
--   below_step(child, parent), which others use too
-- Inputs: claim_end, kg.edge, kg.name, kg.concept
-- Walked from the end to the mentions, where the builder walks from the mentions to the ends. An end is attested by its
--   forms and by its descendants in any form; it is unclear by these, by mentions of ancestors within two steps (of a
--   drug, its pharmacologic classes, too; a brand or salt without any has those of its other forms), and by its
--   namesakes
create or replace temp table labelled_end as
select distinct cui from claim_end;

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

create or replace temp table below_step as
select distinct
    head_cui as child,
    tail_cui as parent
from kg.edge
where predicate in ('is_a', 'placed_under');

create or replace temp table attesting as
with recursive below as (
    select
        cui,
        cui as mentioned
    from labelled_end
    union
    select
        below.cui,
        below_step.child as mentioned
    from below
    inner join below_step on below.mentioned = below_step.parent
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

create or replace temp table parent as
select * from below_step
union
select
    edge.head_cui as child,
    edge.tail_cui as parent
from kg.edge as edge
inner join kg.concept as concept on edge.head_cui = concept.cui
where edge.predicate = 'has_pharmacologic_class' and list_contains(concept.groups, 'CHEM');

create or replace temp table above as
with recursive form as (
    select
        cui,
        cui as other
    from labelled_end
    union
    select
        form.cui,
        form_step.other
    from form
    inner join form_step on form.other = form_step.one
    where form.cui not in (select parent.child from parent)
),

first_step as (
    select
        form.cui,
        parent.parent as mentioned
    from form
    inner join parent on form.other = parent.child
)

select
    cui,
    mentioned
from first_step
union
select
    first_step.cui,
    parent.parent as mentioned
from first_step
inner join parent on first_step.mentioned = parent.child;

-- a name without the s of a plural
create or replace temp macro singular(name) as regexp_replace(name, '([a-z][a-z][^sui])s$', '\1');

create or replace temp table alike as
with subject as (
    select cui from labelled_end
    union
    select mentioned as cui from above
),

asked as (
    select distinct singular(name.normalized) as word
    from kg.name as name
    semi join subject on name.cui = subject.cui
),

spelled as (
    select
        cui,
        singular(normalized) as word,
        max(is_preferred::integer) as preferred
    from kg.name
    -- in all names of a release only these are looked at
    where
        length(normalized) >= 5
        and normalized in (
            select asked.word from asked
            union all
            select asked.word || 's' from asked
        )
    group by all
),

crowd as (
    select word
    from spelled
    group by word
    having count(*) between 2 and 20
)

select
    one.cui,
    two.cui as other
from spelled as one
semi join subject on one.cui = subject.cui
semi join crowd on one.word = crowd.word
inner join spelled as two on one.word = two.word
inner join kg.concept as one_concept on one.cui = one_concept.cui
inner join kg.concept as two_concept on two.cui = two_concept.cui
where one.cui != two.cui and list_has_any(one_concept.groups, two_concept.groups)
group by one.cui, two.cui
having sum(1 + one.preferred + two.preferred) >= 2;

create or replace temp table unclear_by as
with recursive form as (
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
),

below_alike as (
    select
        labelled_end.cui,
        alike.other as mentioned
    from labelled_end
    inner join alike on labelled_end.cui = alike.cui
    union
    select
        below_alike.cui,
        below_step.child as mentioned
    from below_alike
    inner join below_step on below_alike.mentioned = below_step.parent
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
from form
union
select
    below_alike.cui,
    below_alike.mentioned,
    true as by_code
from below_alike
union
select
    above.cui,
    alike.other as mentioned,
    false as by_code
from above
inner join alike on above.mentioned = alike.cui;
