-- How many rows of each split are the same, changed, added and removed
-- Grain: one row per split, of the later build where a row is there
-- Inputs: after_row, changed_row
-- Output: rows for `ontoground diff`. Source: docs/medieval.md#checking
with change as (
    select
        split,
        count(*) filter (where change = 'changed') as changed,
        count(*) filter (where change = 'added') as added,
        count(*) filter (where change = 'removed') as removed
    from changed_row
    group by split
),

after_count as (
    select
        split,
        count(*) as n
    from after_row
    group by split
)

select
    coalesce(after_count.split, change.split) as split,
    coalesce(after_count.n, 0) - coalesce(change.changed, 0) - coalesce(change.added, 0) as same,
    coalesce(change.changed, 0) as changed,
    coalesce(change.added, 0) as added,
    coalesce(change.removed, 0) as removed
from after_count
full outer join change on after_count.split = change.split
order by list_position(['train', 'validation', 'test'], coalesce(after_count.split, change.split))
