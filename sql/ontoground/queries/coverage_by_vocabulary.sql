-- Coverage by vocabulary: codes and rows that have a concept
-- Grain: one row per vocabulary; drug name: what orders call drugs; not known: the records say none
-- Inputs: ground.code_map, ehr.code
with used as (
    select
        kind,
        source,
        vocabulary,
        code,
        count(*) as n_rows
    from ehr.code
    where trim(code) not in ('', '0')
    group by all
),

mapped as (
    select distinct
        source,
        vocabulary,
        code
    from ground.code_map
)

select
    case when u.kind = 'drug_name' then 'drug name' else coalesce(u.vocabulary, 'not known') end as vocabulary,
    count(*) as codes,
    count(m.code) as mapped_codes,
    round(mapped_codes / codes, 4) as share_of_codes,
    sum(u.n_rows)::bigint as n_rows,
    coalesce(sum(u.n_rows) filter (where m.code is not null), 0)::bigint as mapped_rows,
    round(mapped_rows / sum(u.n_rows), 4) as share_of_rows
from used as u
left join mapped as m
    on u.source = m.source and u.code = m.code and u.vocabulary is not distinct from m.vocabulary
group by all
order by n_rows desc, vocabulary asc;
