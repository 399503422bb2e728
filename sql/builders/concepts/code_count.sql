-- Distinct codes and rows by source and method
-- Grain: one row per source and method; method none where a code has no concept
-- Inputs: source_code, ground.code_map
-- Output: rows (source, method, codes, n_rows), nothing is stored
with mapped as (
    select distinct
        source,
        vocabulary,
        code,
        method
    from ground.code_map
)

select
    s.source,
    coalesce(m.method, 'none') as method,
    count(*) as codes,
    sum(s.n_rows)::bigint as n_rows
from source_code as s
left join mapped as m
    on s.source = m.source and s.code = m.code and s.vocabulary is not distinct from m.vocabulary
group by all
order by all;
