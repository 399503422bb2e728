-- Statements of each predicate by quadrant
-- Grain: one row per predicate
-- Inputs: ground.medieval
-- Output: rows for the summary of a run. Source: docs/definitions.md#quadrant
select
    predicate,
    count(*) filter (where quadrant = 'Q1') as q1,
    count(*) filter (where quadrant = 'Q2') as q2,
    count(*) filter (where quadrant = 'Q3') as q3,
    count(*) filter (where quadrant = 'Q4') as q4
from ground.medieval
group by predicate
order by count(*) desc, predicate asc
