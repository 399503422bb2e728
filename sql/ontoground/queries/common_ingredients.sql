-- Most common drugs, by ingredient
-- Grain: one row per ingredient that an order states, most admissions first
-- Inputs: ground.admission_concept, kg.concept
select
    a.cui,
    any_value(c.name order by c.name) as name,
    count(distinct a.hadm_id) as admissions
from ground.admission_concept as a
left join kg.concept as c on a.cui = c.cui
where a.kind = 'ingredient'
group by a.cui
order by admissions desc, a.cui asc;
