-- All facts that could start a group, and whether every quadrant has a candidate
-- Grain: one row per fact and place of the replaced end. Output: first_group(group_id, fact_id, completed)
-- Inputs: fact_group, candidate
create or replace temp table first_group as
select
    fact_group.group_id,
    fact_group.fact_id,
    count(distinct candidate.quadrant) = 3 as completed
from fact_group
left join candidate on fact_group.group_id = candidate.group_id
group by fact_group.group_id, fact_group.fact_id;
