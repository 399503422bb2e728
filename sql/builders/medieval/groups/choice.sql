-- The statements that were drawn, of groups that have one of every quadrant
-- Grain: one row per group and quadrant. Output: choice(group_id, quadrant, candidate_cui), fact_group
-- Inputs: choice_code(group_no, quadrant, code), fact_group, nameable
create or replace temp table choice as
select
    fact_group.group_id,
    choice_code.quadrant,
    nameable.cui as candidate_cui
from choice_code
inner join fact_group on choice_code.group_no = fact_group.group_no
inner join nameable on choice_code.code = nameable.code;

create or replace temp table fact_group as
select fact_group.*
from fact_group
where fact_group.group_id in (select choice.group_id from choice);
