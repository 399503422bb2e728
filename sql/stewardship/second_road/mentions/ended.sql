-- What a note may stop by a word for a concept
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per concept that a note stops, and drug
-- Output: ended_by(cui, ended): the kinds of cui, members of the class within two steps, what it is mixed with
-- Inputs: kg.edge, kg.concept, ground.mention; of the cover form_step(one, other), below_step(child, parent), parent
create or replace temp table ended_by as
with recursive stopped as (
    select distinct unnest(cuis) as cui from ground.mention
    where assertion = 'discontinued' or list_contains(reasons, 'stopped')
),

kind as (
    select
        cui,
        cui as ended
    from stopped
    union
    select
        kind.cui,
        below_step.child
    from kind
    inner join below_step on kind.ended = below_step.parent
),

member as (
    select
        stopped.cui,
        parent.child as ended
    from stopped
    inner join parent on stopped.cui = parent.parent
),

mixed as (
    select
        head_cui as cui,
        tail_cui as ended
    from kg.edge
    where predicate = 'contains_drug'
    union
    select
        tail_cui as cui,
        head_cui as ended
    from kg.edge
    where predicate = 'contains_drug'
),

held as (
    select * from kind
    union
    select * from member
    union
    select
        member.cui,
        parent.child
    from member
    inner join parent on member.ended = parent.parent
    union
    select mixed.* from mixed
    semi join stopped on mixed.cui = stopped.cui
),

form as (
    select held.* from held
    inner join kg.concept as concept on held.ended = concept.cui
    where list_contains(concept.groups, 'CHEM')
    union
    select
        form.cui,
        form_step.other
    from form
    inner join form_step on form.ended = form_step.one
)

select form.* from form
where form.ended in (select unnest(mention.cuis) from ground.mention as mention);
