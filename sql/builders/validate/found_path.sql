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

-- Patterns are joined before the walks meet, so that no walk is made that no pattern asks for; walks carry a number in
-- the place of the names of their steps
asked as (
    select
        steps,
        steps[1] as first_name,
        steps[2] as second_name,
        steps[-1] as last_name,
        len(steps) as hops,
        row_number() over (order by steps) as number
    from kg.pattern
    where extends = ''
    group by steps
),

half_way as (
    select
        first_step.head,
        first_step.node,
        asked.number,
        asked.last_name,
        first_step.fan
    from first_step
    inner join asked on first_step.first_name = asked.first_name
    where asked.hops = 2
    union all
    select
        first_step.head,
        step.goal as node,
        asked.number,
        asked.last_name,
        min(greatest(first_step.fan, step.fan)) as fan
    from first_step
    inner join step on first_step.node = step.start
    inner join asked on first_step.first_name = asked.first_name and step.name = asked.second_name
    where asked.hops = 3
    group by all
),

walk as (
    select
        pair.head,
        pair.tail,
        asked.number,
        first_step.fan
    from pair
    inner join first_step on pair.head = first_step.head and pair.tail = first_step.node
    inner join asked on first_step.first_name = asked.first_name
    where asked.hops = 1
    union all
    select
        pair.head,
        pair.tail,
        half_way.number,
        greatest(half_way.fan, step.fan) as fan
    from pair
    inner join step on pair.tail = step.goal
    inner join half_way
        on pair.head = half_way.head and step.start = half_way.node and step.name = half_way.last_name
),

-- of walks with the same names, the one with the least fan is within a limit if any is
narrowest as (
    select
        head,
        tail,
        number,
        min(fan) as fan
    from walk
    where head != tail
    group by all
)

select
    narrowest.head as head_cui,
    narrowest.tail as tail_cui,
    pattern.predicate,
    pattern.pattern,
    pattern.tier,
    asked.hops
from narrowest
inner join asked on narrowest.number = asked.number
inner join kg.pattern as pattern on asked.steps = pattern.steps
where pattern.extends = '' and (pattern.max_fan = 0 or narrowest.fan <= pattern.max_fan);
