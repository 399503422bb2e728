-- Which pairs of the dataset a pattern of the graph relates, found by joins that meet in the middle
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per ordered pair and pattern
-- Output: found_path(head_cui, tail_cui, predicate, pattern, tier, hops)
-- Inputs: labelled(head_cui, tail_cui, ...), step, kg.pattern
-- The builder walks arrays; here the first two steps are joined forward from the head, and the last one backward from
--   the tail. A step is not taken from a concept whose fan is above the pattern's max_fan (0: no limit)
create or replace temp table found_path as
with pair as (
    select distinct
        head_cui as head,
        tail_cui as tail
    from labelled
    union
    select distinct
        tail_cui as head,
        head_cui as tail
    from labelled
),

first_step as (
    select
        pair_head.head,
        step.name as first_name,
        step.goal as node,
        step.fan
    from (select distinct head from pair) as pair_head
    inner join step on pair_head.head = step.start
),

prefix as (
    select distinct
        steps[1] as first_name,
        steps[2] as second_name
    from kg.pattern
    where len(steps) = 3
),

second_step as (
    select
        first_step.head,
        first_step.first_name,
        step.name as second_name,
        step.goal as node,
        min(greatest(first_step.fan, step.fan)) as fan
    from first_step
    inner join step on first_step.node = step.start
    inner join prefix on first_step.first_name = prefix.first_name and step.name = prefix.second_name
    group by all
),

last_step as (
    select
        pair.head,
        pair.tail,
        step.name as last_name,
        step.start as node,
        step.fan
    from pair
    inner join step on pair.tail = step.goal
),

walk as (
    select
        head,
        tail,
        [last_name] as steps,
        fan
    from last_step
    where node = head
    union all
    select
        last_step.head,
        last_step.tail,
        [first_step.first_name, last_step.last_name] as steps,
        greatest(first_step.fan, last_step.fan) as fan
    from last_step
    inner join first_step on last_step.head = first_step.head and last_step.node = first_step.node
    union all
    select
        last_step.head,
        last_step.tail,
        [second_step.first_name, second_step.second_name, last_step.last_name] as steps,
        greatest(second_step.fan, last_step.fan) as fan
    from last_step
    inner join second_step on last_step.head = second_step.head and last_step.node = second_step.node
)

select distinct
    walk.head as head_cui,
    walk.tail as tail_cui,
    pattern.predicate,
    pattern.pattern,
    pattern.tier,
    len(pattern.steps) as hops
from walk
inner join kg.pattern as pattern on walk.steps = pattern.steps
where pattern.extends = '' and (pattern.max_fan = 0 or walk.fan <= pattern.max_fan) and walk.head != walk.tail;
