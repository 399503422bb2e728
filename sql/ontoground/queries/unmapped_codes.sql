-- Top unmapped codes: why each has no concept, and what comes nearest
-- Grain: one row per (source, vocabulary, code) that has no concept, most used first; the code of a drug shows its name
-- Inputs: ground.unmapped_code
select
    source,
    vocabulary,
    code,
    title,
    reason,
    array_to_string(candidates, '; ') as candidates,
    n_rows
from ground.unmapped_code
order by n_rows desc, source asc, code asc, vocabulary asc;
