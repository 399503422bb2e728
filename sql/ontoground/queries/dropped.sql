-- Everything that a stage left out, by reason
-- Grain: one row per (stage, reason)
-- Inputs: ground.drop
select
    stage,
    reason,
    sum(n)::bigint as n
from ground.drop
group by stage, reason
order by stage asc, n desc, reason asc;
