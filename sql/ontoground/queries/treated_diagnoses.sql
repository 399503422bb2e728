-- Which drugs were given for which coded diagnoses, as far as the ontology states it
-- Grain: one row per (ingredient, diagnosis) that an edge "treats" joins and an admission has both of
-- Inputs: ground.admission_concept, kg.edge, kg.concept
select
    e.head_cui as drug_cui,
    any_value(h.name order by h.name) as drug,
    e.tail_cui as diagnosis_cui,
    any_value(t.name order by t.name) as diagnosis,
    count(distinct d.hadm_id) as admissions
from kg.edge as e
inner join ground.admission_concept as i on i.kind = 'ingredient' and e.head_cui = i.cui
inner join ground.admission_concept as d on d.kind = 'diagnosis' and e.tail_cui = d.cui and i.hadm_id = d.hadm_id
left join kg.concept as h on e.head_cui = h.cui
left join kg.concept as t on e.tail_cui = t.cui
where e.predicate = 'treats'
group by e.head_cui, e.tail_cui
order by admissions desc, e.head_cui asc, e.tail_cui asc;
