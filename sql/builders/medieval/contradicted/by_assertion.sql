-- How and where the notes deny what contradicted rows say, by the first mention that does
-- Grain: one row per assertion and section. Output: (assertion, section, n). Inputs: contradicted_row
select
    denied_spans[1].assertion as assertion,
    denied_spans[1].section as section,
    count(*) as n
from contradicted_row
where not is_supported
group by denied_spans[1].assertion, denied_spans[1].section
order by n desc, assertion asc, section asc;
