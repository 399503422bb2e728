-- Why codes have no concept
-- Grain: one row per (source, vocabulary, reason), most rows of the records first
-- Inputs: ground.unmapped_code
select
    source,
    vocabulary,
    reason,
    count(*) as codes,
    count(*) filter (where len(candidates) > 0) as with_candidates,
    sum(n_rows)::bigint as n_rows
from ground.unmapped_code
group by source, vocabulary, reason
order by n_rows desc, source asc, vocabulary asc, reason asc;
