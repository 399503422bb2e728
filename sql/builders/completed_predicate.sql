-- How many predicates have a group that can be completed
-- Grain: one row. Output: (n). Inputs: fact_group, first_group
select count(distinct fact_group.predicate) as n
from fact_group
inner join first_group on fact_group.group_id = first_group.group_id
where first_group.completed;
