-- Which pairs of concepts a pattern of the graph relates, by a recursion over the edges
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per ordered pair, pattern and predicate
-- Output: steward_relation(head_cui, tail_cui, predicate, pattern, tier, hops)
-- Inputs: steward_pair(head_cui, tail_cui), steward_step, steward_trie, kg.pattern
-- All steps but the last are walked from the head; the last is taken among the steps that end at a wanted tail, so that
--   no step is walked in vain. Source: docs/definitions.md#path-pattern
create or replace temp table steward_relation as
with recursive walk as (
    select
        heads.head_cui as start,
        heads.head_cui as node,
        limits.max_fan,
        list_filter([''], lambda name: false) as walked
    from (select distinct head_cui from steward_pair) as heads
    cross join (select distinct max_fan from steward_trie) as limits
    union
    select
        walk.start,
        step.goal as node,
        walk.max_fan,
        trie.onward as walked
    from walk
    inner join steward_trie as trie on walk.max_fan = trie.max_fan and walk.walked = trie.walked and trie.goes_on
    inner join steward_step as step on walk.node = step.start and trie.name = step.name
    where walk.max_fan = 0 or step.fan <= walk.max_fan
),

last_step as (
    select step.*
    from steward_step as step
    semi join steward_pair as pair on step.goal = pair.tail_cui
),

arrived as (
    select distinct
        pair.head_cui,
        pair.tail_cui,
        trie.max_fan,
        trie.onward
    from walk
    inner join steward_trie as trie on walk.max_fan = trie.max_fan and walk.walked = trie.walked
    inner join last_step as step on walk.node = step.start and trie.name = step.name
    inner join steward_pair as pair on walk.start = pair.head_cui and step.goal = pair.tail_cui
    where (walk.max_fan = 0 or step.fan <= walk.max_fan) and pair.head_cui != pair.tail_cui
)

select distinct
    arrived.head_cui,
    arrived.tail_cui,
    pattern.predicate,
    pattern.pattern,
    pattern.tier,
    len(pattern.steps)::integer as hops
from arrived
inner join kg.pattern as pattern
    on arrived.onward = pattern.steps and arrived.max_fan = pattern.max_fan and pattern.extends = '';
