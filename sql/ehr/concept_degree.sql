-- How many relations each concept has, at either end
-- Grain: one row per concept with relations; each row of evidence counts
-- Inputs: kg.edge
-- Output: temp table concept_degree(cui, n)
-- Source: ours; of the concepts with one name, the one with more relations comes first
create or replace temp table concept_degree as
-- kg.edge is a view of joins: both ends are counted in one pass over it.
with counted as (
    select
        coalesce(head_cui, tail_cui) as cui,
        count(*) as n
    from kg.edge
    group by grouping sets ((head_cui), (tail_cui))
)

select
    cui,
    sum(n)::bigint as n
from counted
group by cui;
