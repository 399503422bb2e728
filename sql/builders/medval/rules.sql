-- Rules that made the edits of kept perturbed outputs
-- Grain: one row per level and rule
-- Output: level, rule, n
-- Inputs: triple (datasets/medval/triples.parquet)
-- Source: docs/medval.md
with edit as (
    select
        level,
        unnest(perturbed_edits).rule as rule
    from triple
    where kept
)

select
    level,
    rule,
    count(*)::bigint as n
from edit
group by level, rule
order by level asc, n desc, rule asc;
