-- Quadrants per predicate
-- Grain: one row per predicate
-- Inputs: ground.medieval
select
    predicate,
    count(*) filter (where quadrant = 'Q1') as q1_true_supported,
    count(*) filter (where quadrant = 'Q2') as q2_true_unsupported,
    count(*) filter (where quadrant = 'Q3') as q3_false_supported,
    count(*) filter (where quadrant = 'Q4') as q4_false_unsupported,
    count(distinct group_id) as groups,
    count(distinct hadm_id) as admissions
from ground.medieval
group by predicate
order by count(*) desc, predicate;
