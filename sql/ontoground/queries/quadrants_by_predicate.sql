-- Quadrants per predicate (q1 true, supported; q2 true, not supported; q3 false, supported; q4 neither)
-- Grain: one row per predicate
-- Inputs: ground.medieval
select
    predicate,
    count(*) filter (where quadrant = 'Q1') as q1,
    count(*) filter (where quadrant = 'Q2') as q2,
    count(*) filter (where quadrant = 'Q3') as q3,
    count(*) filter (where quadrant = 'Q4') as q4,
    count(distinct group_id) as groups,
    count(distinct hadm_id) as admissions
from ground.medieval
group by predicate
order by count(*) desc, predicate;
