-- Groups that stay: not too many of one admission, predicate or pair of ends
-- Grain: one row per kept group. Output: limited_group(number, frame, draw). Inputs: limited_group, frame
-- Lowest hashes stay. Parameters: max_groups (of one admission), max_pairs (of one unordered pair), max_of_predicate
create or replace temp table limited_group as
with placed_end as (
    select
        limited_group.*,
        frame.predicate,
        least(frame.original_cui, frame.kept_cui) as low_cui,
        greatest(frame.original_cui, frame.kept_cui) as high_cui
    from limited_group
    inner join frame on limited_group.frame = frame.frame
),

paired as (
    select * from placed_end
    qualify
        row_number() over (partition by low_cui, high_cui order by draw, number, frame) <= getvariable('max_pairs')
),

of_predicate as (
    select * from paired
    qualify
        row_number() over (partition by predicate order by draw, number, frame) <= getvariable('max_of_predicate')
),

-- an admission takes one fact of each predicate before a second one of any, so that rare predicates stay
placed as (
    select
        *,
        row_number() over (partition by number, predicate order by draw, frame) as turn
    from of_predicate
)

select
    number,
    frame,
    draw
from placed
qualify row_number() over (partition by number order by turn, draw, frame) <= getvariable('max_groups');
