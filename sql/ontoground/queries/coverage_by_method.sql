-- Coverage by method: rows of the records that reach a concept in each way
-- Grain: one row per source, vocabulary and method; method none: no concept
-- Inputs: ground.code_map, ehr.code
with used as (
    select
        source,
        vocabulary,
        code,
        count(*) as n_rows
    from ehr.code
    where source is not null
    group by all
),

mapped as (
    select distinct
        source,
        vocabulary,
        code,
        method
    from ground.code_map
)

select
    u.source,
    u.vocabulary,
    coalesce(m.method, 'none') as method,
    count(*) as codes,
    sum(u.n_rows)::bigint as n_rows,
    round(sum(u.n_rows) / sum(sum(u.n_rows)) over (partition by u.source, u.vocabulary), 4) as share_of_rows
from used as u
left join mapped as m
    on u.source = m.source and u.code = m.code and u.vocabulary is not distinct from m.vocabulary
group by u.source, u.vocabulary, m.method
order by u.source asc, u.vocabulary asc, n_rows desc, method asc;
