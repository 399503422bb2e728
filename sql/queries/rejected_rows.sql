-- Refused rows by file and reason
-- Grain: one row per (source, file, reason)
-- Inputs: ground.reject
-- Caveat: the refused text itself stays in ground.reject, it may hold records
select
    source,
    file,
    reason,
    count(*) as n_rows,
    min(line) as first_line
from ground.reject
group by source, file, reason
order by source asc, file asc, n_rows desc, reason asc;
