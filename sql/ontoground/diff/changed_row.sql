-- Rows of two builds of a dataset that are not the same, by identifier
-- Grain: one row per identifier; change is added, removed or changed (in any column that both builds have)
-- Inputs: before_row, after_row: the columns that both builds have
-- Output: changed_row(id, split, change). Source: docs/medieval.md#checking
create or replace temp table changed_row as
with before_digest as (
    select
        id,
        split,
        hash(before_row) as digest
    from before_row
),

after_digest as (
    select
        id,
        split,
        hash(after_row) as digest
    from after_row
)

select
    coalesce(after_digest.id, before_digest.id) as id,
    coalesce(after_digest.split, before_digest.split) as split,
    case
        when before_digest.id is null then 'added'
        when after_digest.id is null then 'removed'
        else 'changed'
    end as change
from before_digest
full outer join after_digest on before_digest.id = after_digest.id
where before_digest.digest is distinct from after_digest.digest;
