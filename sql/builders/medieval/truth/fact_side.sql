-- Concepts of usable facts, with a number
-- Grain: one row per concept. Inputs: usable_fact. Output: fact_side(cui, side). Source: docs/definitions.md#fact
create or replace temp table fact_side as
select
    cui,
    (row_number() over (order by cui) - 1)::integer as side
from (
    select distinct unnest([head_cui, tail_cui]) as cui
    from usable_fact
) as either;
