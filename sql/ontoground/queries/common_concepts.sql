-- Most common concepts that codes and orders state, by kind
-- Grain: one row per kind and concept, most admissions first
-- Inputs: ground.admission_concept, kg.concept
select
    a.kind,
    a.cui,
    any_value(c.name order by c.name) as name,
    count(distinct a.hadm_id) as admissions
from ground.admission_concept as a
left join kg.concept as c on a.cui = c.cui
group by a.kind, a.cui
order by admissions desc, a.kind asc, a.cui asc;
