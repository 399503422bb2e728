-- Concepts that the codes of an admission state and its note never mentions
-- Grain: one row per (kind, concept), most admissions with a note first
-- Inputs: ground.admission_concept, ground.mention, kg.concept
-- Caveat: the concept itself is looked for, not its descendants; a code mapped by its category is often worded more
--   precisely in the note
with noted as (
    select distinct hadm_id
    from ground.mention
),

mentioned as (
    select distinct
        hadm_id,
        unnest(cuis) as cui
    from ground.mention
)

select
    a.kind,
    a.cui,
    any_value(c.name order by c.name) as name,
    count(distinct a.hadm_id) as admissions_coded,
    count(distinct a.hadm_id) filter (where m.cui is null) as admissions_silent
from ground.admission_concept as a
inner join noted as n on a.hadm_id = n.hadm_id
left join mentioned as m on a.hadm_id = m.hadm_id and a.cui = m.cui
left join kg.concept as c on a.cui = c.cui
where a.kind in ('diagnosis', 'procedure', 'ingredient')
group by a.kind, a.cui
having count(distinct a.hadm_id) filter (where m.cui is null) > 0
order by admissions_silent desc, a.kind asc, a.cui asc;
