-- What a mention or a code leaves unclear, of the concepts that statements can name
-- Grain: one row per concept of a mention or code and covered concept
-- Output: cover(concept, code, by_code), cover_concept(concept, cui)
-- Inputs: closure, namesake, namesake_closure, class_member, nameable
-- Any mention of the whole note, also those read without being asserted, with any assertion and any candidate,
--   covers its concept, equivalents, ancestors, descendants within two steps, members of a class of drugs, and
--   combinations or ingredients; a code covers the same without descendants and members (by_code). Namesakes
--   are covered like the concept itself. What is covered must not be called unattested.
--   Source: docs/definitions.md#unclear
create or replace temp table covered as
with every_cover as (
    select
        closure.cui,
        closure.other,
        closure.relation != 'descendant' as by_code
    from closure
    where closure.relation != 'descendant' or closure.depth <= 2
    union all
    select
        closure.cui,
        namesake.other,
        true as by_code
    from closure
    inner join namesake on closure.other = namesake.cui
    where closure.relation in ('self', 'equivalent', 'ancestor')
    union all
    select
        namesake.cui,
        closure.other,
        closure.relation != 'descendant' as by_code
    from namesake
    inner join namesake_closure as closure on namesake.other = closure.cui
    where closure.relation != 'descendant' or closure.depth <= 2
    union all
    select
        class_member.cui,
        class_member.other,
        false as by_code
    from class_member
)

select
    every_cover.cui,
    nameable.code,
    bool_or(every_cover.by_code) as by_code
from every_cover
inner join nameable on every_cover.other = nameable.cui
group by every_cover.cui, nameable.code;

create or replace temp table cover_concept as
select
    cui,
    (row_number() over (order by cui) - 1)::integer as concept
from (select distinct covered.cui from covered) as every_concept;

create or replace temp table cover as
select
    cover_concept.concept,
    covered.code,
    covered.by_code
from covered
inner join cover_concept on covered.cui = cover_concept.cui
order by cover_concept.concept, covered.code;
