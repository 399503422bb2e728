-- Triples by task, source and the level that the generator was asked for
-- Grain: one row per task, source and level
-- Output: task, source, level, inputs, judged, kept, consistency_sum
-- Inputs: triple (datasets/medval/triples.parquet)
-- Source: MedVAL, Algorithm S1
select
    task,
    source,
    level,
    count(*)::bigint as inputs,
    count(*) filter (where clean_level is not null and perturbed_level is not null)::bigint as judged,
    count(*) filter (where kept)::bigint as kept,
    -- M has a handful of values: summed as whole millionths, the order of rows changes nothing
    coalesce(sum(round(consistency * 1000000)::bigint), 0)::double / 1000000 as consistency_sum
from triple
group by task, source, level
order by task, source, level;
