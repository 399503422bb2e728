-- What was loaded: releases, files and rows of each source
-- Grain: one row per source
-- Inputs: ground.load
-- Output: rows for `ontoground status`. Source: docs/definitions.md#warehouse
select
    source,
    string_agg(distinct release, ', ' order by release) as release,
    count(*) as files,
    sum(rows_read)::bigint as rows_read,
    sum(rows_rejected)::bigint as rows_rejected,
    max(finished_at) as finished_at
from ground.load
group by source
order by source
