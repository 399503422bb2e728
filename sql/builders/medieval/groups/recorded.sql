-- Candidates for false statements that a patient's records hold, by codes or notes
-- Grain: one row per patient and concept. Output: recorded(subject_id, code), by patient
-- Inputs: ehr.admission, ground.admission_concept, closure, present_mention, attested, nameable, asked_concept
-- All patients with codes or notes count: admissions of one patient tell the same thing twice
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
    admission.subject_id,
    meant.code
from ground.admission_concept as record
inner join ehr.admission as admission on record.hadm_id = admission.hadm_id
inner join meant on record.cui = meant.cui
union
select
    admission.subject_id,
    wanted.code
from (
    select distinct
        hadm_id,
        cui
    from present_mention
) as present
inner join ehr.admission as admission on present.hadm_id = admission.hadm_id
inner join attested on present.cui = attested.cui
inner join wanted on attested.other = wanted.cui
order by all;
