-- Quadrants per split
-- Grain: one row per (split, quadrant)
-- Inputs: ground.medieval
select
    split,
    quadrant,
    count(*) as statements,
    count(distinct hadm_id) as admissions,
    round(count(*) / sum(count(*)) over (partition by split), 4) as share_of_split
from ground.medieval
group by split, quadrant
order by split, quadrant;
