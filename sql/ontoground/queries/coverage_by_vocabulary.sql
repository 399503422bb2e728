-- Coverage by vocabulary: codes and rows that have a concept
-- Grain: one row per vocabulary; drug name: what orders call drugs; not known: the records say none
-- Inputs: ground.code_use
select
    case when kind = 'drug_name' then 'drug name' else coalesce(vocabulary, 'not known') end as vocabulary,
    count(*) as codes,
    count(method) as mapped_codes,
    round(mapped_codes / codes, 4) as share_of_codes,
    sum(n_rows)::bigint as n_rows,
    coalesce(sum(n_rows) filter (where method is not null), 0)::bigint as mapped_rows,
    round(mapped_rows / sum(n_rows), 4) as share_of_rows
from ground.code_use
where trim(code) <> '0'
group by all
order by n_rows desc, vocabulary asc;
