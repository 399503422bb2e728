-- Rows of MRREL that a line covers but that make no edge
-- Grain: one row per (reason, predicate)
-- Inputs: kg.edge_candidate, kg.predicate_code
-- Output: kg.edge_refused(reason, predicate, n). Source: DESIGN section 10
create or replace table kg.edge_refused as
select
    edge.refused as reason,
    code.predicate,
    count(*) as n
from kg.edge_candidate as edge
inner join kg.predicate_code as code on edge.predicate = code.code
where edge.refused is not null
group by edge.refused, code.predicate
order by reason, code.predicate;
