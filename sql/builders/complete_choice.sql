-- Groups that have a statement of every quadrant
-- Grain: one row per group and quadrant. Output: choice, fact_group. Inputs: choice, fact_group
create or replace temp table choice as
select * from choice
qualify count(*) over (partition by group_id) = 3;

create or replace temp table fact_group as
select fact_group.*
from fact_group
where fact_group.group_id in (select choice.group_id from choice);
