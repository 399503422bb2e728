-- Coverage by method: rows of the records with a code that reach a concept in each way
-- Grain: one row per source, vocabulary and method; method none: no concept
-- Inputs: ground.code_use
select
    source,
    vocabulary,
    coalesce(method, 'none') as method,
    count(*) as codes,
    sum(n_rows)::bigint as n_rows,
    round(sum(n_rows) / sum(sum(n_rows)) over (partition by source, vocabulary), 4) as share_of_rows
from ground.code_use
group by source, vocabulary, method
order by source asc, vocabulary asc, n_rows desc, method asc;
