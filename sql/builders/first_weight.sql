-- An empty choice, and equal weights for the recombinations of Q3
-- Grain: weight, one row per concept. Output: choice, weight(quadrant, cui, weight)
-- Inputs: fact_group
create or replace temp table choice (
    group_id varchar,
    quadrant varchar,
    candidate_cui varchar,
    statement_key varchar
);

create or replace temp table weight as
select
    'Q3' as quadrant,
    original_cui as cui,
    1.0::double as weight
from fact_group
group by original_cui;
