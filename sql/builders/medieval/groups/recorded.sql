-- Candidates for false statements that the records hold, by codes or notes
-- Grain: one row per admission and concept. Output: (hadm_id, code)
-- Inputs: ground.admission_concept, closure, present_mention, attested, coded, false_pair
-- All admissions with codes or notes count
with wanted as (
    select
        coded.cui,
        coded.code
    from coded
    semi join (
        select false_pair.head_cui as cui from false_pair
        union
        select false_pair.tail_cui as cui from false_pair
    ) as asked on coded.cui = asked.cui
),

meant as (
    select
        closure.cui,
        wanted.code
    from closure
    inner join wanted on closure.other = wanted.cui
    where closure.relation in ('self', 'equivalent')
)

select
    record.hadm_id,
    meant.code
from ground.admission_concept as record
inner join meant on record.cui = meant.cui
union
select
    present.hadm_id,
    wanted.code
from (
    select distinct
        hadm_id,
        cui
    from present_mention
) as present
inner join attested on present.cui = attested.cui
inner join wanted on attested.other = wanted.cui
order by all;
