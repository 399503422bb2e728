-- The rows of the contradicted configuration by split and quadrant
-- Grain: one row per split. Output: (split, q2, q4, q1, q3). Inputs: ground.medieval_contradicted
select
    split,
    count(*) filter (where quadrant = 'Q2') as q2,
    count(*) filter (where quadrant = 'Q4') as q4,
    count(*) filter (where quadrant = 'Q1') as q1,
    count(*) filter (where quadrant = 'Q3') as q3
from ground.medieval_contradicted
group by split
order by list_position(['train', 'validation', 'test'], split);
