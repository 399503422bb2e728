-- Rows of MRREL that a line covers but that make no edge
-- Grain: one row per (reason, predicate)
-- Inputs: kg.edge_candidate
-- Output: kg.edge_refused(reason, predicate, n). Source: DESIGN section 10
create or replace table kg.edge_refused as
select
    refused as reason,
    predicate,
    count(*) as n
from kg.edge_candidate
where refused is not null
group by refused, predicate
order by reason, predicate;
