-- Each distinct statement once, with how many samples use it
-- Grain: one row per statement. Inputs: ground.medieval
-- Source: MediEval section 4.1 (8,350 statements, 37,144 samples)
select
    statement,
    predicate,
    head_cui,
    tail_cui,
    is_true,
    count(*) as n_samples
from ground.medieval
group by all
order by statement, predicate, head_cui, tail_cui;
