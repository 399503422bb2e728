-- Candidates for false statements that the records hold, by codes or notes
-- Grain: one row per admission and concept. Output: recorded(hadm_id, code), by admission
-- Inputs: ground.admission_concept, closure, present_mention, attested, nameable, asked_concept
-- All admissions with codes or notes count
create or replace temp table recorded as
with wanted as (
    select
        nameable.cui,
        nameable.code
    from nameable
    semi join asked_concept on nameable.code = asked_concept.code
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
