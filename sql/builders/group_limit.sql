-- Groups above the limits are left out: too many of one admission, or of one pair of ends
-- Grain: one row per kept group
-- Output: fact_group. Inputs: fact_group, choice (all groups that can be completed)
-- Lowest hashes stay. Parameters: max_groups, max_pairs (groups of one unordered pair)
create or replace temp table fact_group as
with completed as (
    select
        *,
        unit(concat_ws(chr(31), 'limit', group_id)) as draw
    from fact_group
    where group_id in (select choice.group_id from choice)
),

paired as (
    select * from completed
    qualify
        row_number() over (
            partition by least(head_cui, tail_cui), greatest(head_cui, tail_cui) order by draw, group_id
        ) <= getvariable('max_pairs')
)

select * exclude (draw) from paired
qualify row_number() over (partition by hadm_id order by draw, group_id) <= getvariable('max_groups');
