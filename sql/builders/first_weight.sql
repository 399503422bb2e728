-- Weights of the first round: a replaced end is drawn as often as facts have it
-- Grain: one row per quadrant and concept
-- Output: weight(quadrant, cui, weight). Inputs: fact_group
create or replace temp table weight as
select
    quadrant.quadrant,
    fact_group.original_cui as cui,
    if(quadrant.quadrant = 'Q3', 1, count(*))::double as weight
from fact_group
cross join (values ('Q2'), ('Q3'), ('Q4')) as quadrant (quadrant)
group by quadrant.quadrant, fact_group.original_cui;
