-- Which ends the context names more than once, of statements that admissions contradict or support
-- Grain: one row per admission and statement
-- Output: named(number, wording, often: 0 for none, 1 for the head, 2 for the tail, 3 for both)
-- Inputs: offered, contradiction, wording, nameable, mention_concept. Mentions of the concept itself, whatever they say
create or replace temp table named as
with asked as (
    select
        number,
        wording
    from offered
    where wording in (select contradiction.wording from contradiction)
    union all
    select
        number,
        wording
    from contradiction
),

counted as (
    select
        mention_concept.number,
        nameable.code,
        count(distinct mention_concept.mention) as n
    from mention_concept
    inner join nameable on mention_concept.cui = nameable.cui
    where mention_concept.in_context and nameable.code in (select wording.denied from wording)
    group by mention_concept.number, nameable.code
)

select
    asked.number,
    asked.wording,
    sum(if(counted.n > 1, if(wording.role = 'head', 1, 2), 0))::integer as often
from asked
inner join wording on asked.wording = wording.wording
inner join counted on asked.number = counted.number and wording.denied = counted.code
group by asked.number, asked.wording;
