-- The groups of statements that are drawn, numbered in the order of their ids
-- Grain: one row per group
-- Output: fact_group(number, group_no, group_id, hadm_id, frame, predicate, head_cui, tail_cui, pattern, tier, hops,
--   slot, original_cui, kept_cui, precedence)
-- Inputs: limited_group, admission, frame, usable_fact
-- precedence: which of two groups with the same statement keeps it
create or replace temp table fact_group as
with named as (
    select
        limited_group.number,
        limited_group.frame,
        admission.hadm_id,
        concat(admission.hadm_id, '-', fact.key, '-', left(frame.slot, 1)) as group_id,
        fact.predicate,
        fact.head_cui,
        fact.tail_cui,
        fact.pattern,
        fact.tier,
        fact.hops,
        frame.slot,
        frame.original_cui,
        frame.kept_cui
    from limited_group
    inner join admission on limited_group.number = admission.number
    inner join frame on limited_group.frame = frame.frame
    inner join usable_fact as fact on frame.fact = fact.fact
)

select
    row_number() over (order by number, group_id) - 1 as group_no,
    named.*,
    unit(group_id) as precedence
from named;
