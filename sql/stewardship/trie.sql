-- The path patterns as a tree of steps, so that one recursion walks them all
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per limit of fan, steps walked so far, and next step
-- Output: steward_trie(max_fan, walked, name, onward, goes_on): onward is walked with name added; goes_on where a
--   longer pattern begins with onward
-- Inputs: kg.pattern (patterns that only describe an end are left out: the pair stays the same)
create or replace temp table steward_trie as
with prefix as (
    select
        pattern.max_fan,
        pattern.steps,
        unnest(range(1, len(pattern.steps) + 1)) as n
    from kg.pattern as pattern
    where pattern.extends = ''
)

select
    max_fan,
    steps[1:n - 1] as walked,
    steps[n] as name,
    steps[1:n] as onward,
    bool_or(n < len(steps)) as goes_on
from prefix
group by all;
