-- Mentions by assertion
-- Grain: one row per assertion
-- Inputs: ground.mention
select
    assertion,
    count(*) as mentions,
    round(count(*) / sum(count(*)) over (), 4) as share,
    count(*) filter (where len(cuis) > 1) as ambiguous,
    count(*) filter (where len(cuis) = 0) as without_concept,
    count(distinct note_id) as notes
from ground.mention
group by assertion
order by mentions desc, assertion asc;
