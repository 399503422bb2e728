-- Which pairs of the dataset a pattern of the graph relates, found by joins that meet in the middle
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per ordered pair and pattern
-- Output: found_path(head_cui, tail_cui, predicate, pattern, tier, hops)
-- Inputs: paired(head, tail, lot), step, kg.pattern. Parameter: lot, of heads whose walks fit into memory together
-- The builder walks arrays; here the first two steps are joined forward from the head, and the last one backward from
--   the tail. A step is not taken from a concept whose fan is above the pattern's max_fan (0: no limit)
insert into found_path
with pair as (
    select
        head,
        tail
    from paired
    where lot = getvariable('lot')
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

-- Patterns are joined before the walks meet, so that no walk is made that no pattern asks for
asked as (
    select distinct
        steps,
        steps[1] as first_name,
        steps[2] as second_name,
        steps[-1] as last_name,
        len(steps) as hops
    from kg.pattern
    where extends = ''
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
    semi join asked on asked.hops = 3 and first_step.first_name = asked.first_name and step.name = asked.second_name
    group by all
),

half_way as (
    select
        first_step.head,
        first_step.node,
        first_step.fan,
        asked.steps,
        asked.last_name
    from first_step
    inner join asked on asked.hops = 2 and first_step.first_name = asked.first_name
    union all
    select
        second_step.head,
        second_step.node,
        second_step.fan,
        asked.steps,
        asked.last_name
    from second_step
    inner join asked
        on asked.hops = 3 and second_step.first_name = asked.first_name and second_step.second_name = asked.second_name
),

walk as (
    select
        pair.head,
        pair.tail,
        [first_step.first_name] as steps,
        first_step.fan
    from pair
    inner join first_step on pair.head = first_step.head and pair.tail = first_step.node
    union all
    select
        pair.head,
        pair.tail,
        half_way.steps,
        greatest(half_way.fan, step.fan) as fan
    from pair
    inner join step on pair.tail = step.goal
    inner join half_way
        on pair.head = half_way.head and step.start = half_way.node and step.name = half_way.last_name
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
