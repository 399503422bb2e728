-- Groups that stay: complete ones, one place per fact, not too many of one admission, predicate or pair of ends
-- Grain: one row per kept group
-- Output: fact_group. Inputs: fact_group, first_group
-- Lowest hashes stay. Parameters: max_groups (of one admission), max_pairs (of one unordered pair), max_of_predicate
create or replace temp table fact_group as
with completed as (
    select
        fact_group.*,
        unit(concat_ws(chr(31), 'limit', fact_group.fact_id)) as draw
    from fact_group
    inner join first_group on fact_group.group_id = first_group.group_id
    where first_group.completed
    qualify
        row_number() over (
            partition by fact_group.fact_id
            order by unit(concat_ws(chr(31), 'slot', fact_group.group_id)), fact_group.group_id
        ) = 1
),

paired as (
    select * from completed
    qualify
        row_number() over (
            partition by least(head_cui, tail_cui), greatest(head_cui, tail_cui) order by draw, group_id
        ) <= getvariable('max_pairs')
),

of_predicate as (
    select * from paired
    qualify row_number() over (partition by predicate order by draw, group_id) <= getvariable('max_of_predicate')
),

-- an admission takes one fact of each predicate before a second one of any, so that rare predicates stay
placed as (
    select
        *,
        row_number() over (partition by hadm_id, predicate order by draw, group_id) as turn
    from of_predicate
)

select * exclude (draw, turn) from placed
qualify row_number() over (partition by hadm_id order by turn, draw, group_id) <= getvariable('max_groups');
