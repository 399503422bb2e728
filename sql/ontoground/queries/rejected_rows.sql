-- Refused rows by file and reason
-- Grain: one row per (source, file, reason), places inside a line aside; line: of the first one
-- Inputs: ground.reject
-- Caveat: the refused text itself stays in ground.reject, it may hold records
select
    source,
    file,
    regexp_replace(reason, ' at position \d+', '') as why,
    count(*) as n_rows,
    min(line) as line
from ground.reject
group by all
order by source asc, file asc, n_rows desc, why asc;
