-- Distinct codes of the records, and by which method each has a concept
-- Grain: one row per (source, vocabulary, code)
-- Inputs: source_code, ground.code_map
-- Output: ground.code_use(kind, source, vocabulary, code, n_rows, method); method is null where it has no concept
-- Source: docs/definitions.md#code
create or replace table ground.code_use as
select
    s.kind,
    s.source,
    s.vocabulary,
    s.code,
    s.n_rows,
    min(m.method) as method
from source_code as s
left join ground.code_map as m
    on s.source = m.source and s.code = m.code and s.vocabulary is not distinct from m.vocabulary
group by all
order by all;
