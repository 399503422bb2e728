-- Codes whose rows do not agree on method or on the number of candidates
-- Grain: one row per offending (source, code, vocabulary)
-- Inputs: ground.code_map
select
    source,
    code,
    vocabulary,
    count(*) as n_rows,
    count(distinct cui) as cuis,
    count(distinct method) as methods,
    min(n_candidates) as n_candidates
from ground.code_map
group by source, code, vocabulary
having
    count(*) <> count(distinct cui)
    or count(distinct method) <> 1
    or min(n_candidates) <> count(*)
    or max(n_candidates) <> count(*)
order by source, code, vocabulary;
