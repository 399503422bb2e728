-- What is asked of statements, in the tables that the builder of MediEval has of its facts
-- Grain: frame, one row per (head, predicate, tail) and replaced end; kept_end, argument and argument_concept as there
-- Output: frame, kept_end, argument, argument_concept, sibling (empty), asked_concept(code), all concepts
-- Inputs: asked_claim(head_cui, predicate, tail_cui). Source: sql/builders/medieval/groups/frame.sql
create or replace temp table frame as
with used as (
    select
        claim.fact,
        claim.predicate,
        argument.slot,
        if(argument.slot = 'head', claim.head_cui, claim.tail_cui) as original_cui,
        if(argument.slot = 'head', claim.tail_cui, claim.head_cui) as kept_cui
    from (
        select
            asked_claim.*,
            row_number() over (order by head_cui, predicate, tail_cui) - 1 as fact
        from asked_claim
    ) as claim
    cross join (values ('head'), ('tail')) as argument (slot)
)

select
    row_number() over (order by fact, slot) - 1 as frame,
    fact,
    predicate,
    slot,
    dense_rank() over (order by predicate, slot) - 1 as argument,
    original_cui,
    kept_cui
from used;

create or replace temp table argument as
select distinct
    argument,
    predicate,
    slot
from frame;

create or replace temp table sibling (cui varchar, sibling varchar);
