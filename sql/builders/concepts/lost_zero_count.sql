-- Codes that lost their leading zeros, by source
-- Grain: one row per source and outcome
-- Inputs: source_code, lost_zero
-- Output: rows (reason, codes, n_rows), nothing is stored
select
    'rows of ' || code.source || ' whose code lost its leading zeros: '
    || if(lost.is_clear, 'they are filled up', 'it may be several codes and has no concept') as reason,
    count(*) as codes,
    sum(code.n_rows)::bigint as n_rows
from lost_zero as lost
inner join source_code as code on lost.id = code.id
group by all
order by all;
