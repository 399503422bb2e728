-- Distinct codes and rows by source and method
-- Grain: one row per source and method; method none where a code has no concept, no_code where
--   the row states none: NDC 0
-- Inputs: ground.code_use
-- Output: rows (source, method, codes, n_rows), nothing is stored
select
    source,
    coalesce(method, if(trim(code) = '0', 'no_code', 'none')) as method,
    count(*) as codes,
    sum(n_rows)::bigint as n_rows
from ground.code_use
group by all
order by all;
