-- Drugs ordered in admissions with a diagnosis that the ontology says they treat, or are contraindicated in
-- Grain: one row per (predicate, ingredient, diagnosis) that an edge joins and an admission has both of
-- Inputs: ground.admission_concept, kg.edge, kg.concept
-- Caveat: a sign to look, no verdict: contraindications are relative, and a diagnosis may be coded by its category
select
    e.predicate,
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
where e.predicate in ('treats', 'contraindicated_with')
group by e.predicate, e.head_cui, e.tail_cui
order by e.predicate asc, admissions desc, e.head_cui asc, e.tail_cui asc;
