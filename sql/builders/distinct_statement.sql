-- Each distinct statement once, with how many samples use it
-- Grain: one row per statement. Inputs: medieval_rows
-- Source: MediEval section 4.1 (8,350 statements, 37,144 samples)
select
    statement,
    predicate,
    head_cui,
    tail_cui,
    is_true,
    count(*) as n_samples
from medieval_rows
group by all
order by statement, predicate, head_cui, tail_cui;
