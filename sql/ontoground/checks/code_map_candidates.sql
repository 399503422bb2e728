-- Codes whose rows do not agree on method or on the number of candidates
-- Grain: one row per offending (source, code, code_version)
-- Inputs: ground.code_map
select
    source,
    code,
    code_version,
    count(*) as n_rows,
    count(distinct cui) as cuis,
    count(distinct method) as methods,
    min(n_candidates) as n_candidates
from ground.code_map
group by source, code, code_version
having
    count(*) <> count(distinct cui)
    or count(distinct method) <> 1
    or min(n_candidates) <> count(*)
    or max(n_candidates) <> count(*)
order by source, code, code_version;
