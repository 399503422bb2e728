-- Admissions with discharge summaries, the one with most mentions first
-- Grain: one row per admission; the first 200
-- Inputs: ehr.discharge_note, ground.mention
-- Output: rows for the list of notes of `ontoground explore`. Source: docs/definitions.md#mention
with mentioned as (
    select
        hadm_id,
        count(*) as mentions,
        count(*) filter (where certainty = 'unsure') as unsure,
        count(distinct cuis[1]) as concepts
    from ground.mention
    group by hadm_id
)

select
    discharge.hadm_id,
    count(*) as notes,
    sum(length(discharge.text))::bigint as characters,
    coalesce(any_value(mentioned.mentions), 0) as mentions,
    coalesce(any_value(mentioned.concepts), 0) as concepts,
    coalesce(any_value(mentioned.unsure), 0) as unsure
from ehr.discharge_note as discharge
left join mentioned on discharge.hadm_id = mentioned.hadm_id
group by discharge.hadm_id
order by mentions desc, discharge.hadm_id asc
limit 200
