-- What the dataset holds
-- Grain: one row. Output: (rows, groups, admissions, statements, complete, multi_hop). Inputs: ground.medieval
-- complete: groups with a statement of every quadrant
with grouped as (
    select
        group_id,
        count(distinct quadrant) as quadrants
    from ground.medieval
    group by group_id
)

select
    count(*) as rows,
    (select count(*) from grouped) as groups,
    count(distinct hadm_id) as admissions,
    count(distinct statement) as statements,
    (
        select count(*) from grouped
        where grouped.quadrants = 4
    ) as complete,
    count(*) filter (where hops > 1) as multi_hop
from ground.medieval
