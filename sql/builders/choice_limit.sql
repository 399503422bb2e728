-- Choices of the groups that stay
-- Grain: one row per group and quadrant. Output: choice. Inputs: choice, fact_group
create or replace temp table choice as
select choice.*
from choice
inner join fact_group on choice.group_id = fact_group.group_id;
