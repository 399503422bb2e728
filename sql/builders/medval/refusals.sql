-- Why triples are not in the dataset
-- Grain: one row per task, source and reason
-- Output: task, source, reason, n
-- Inputs: triple (datasets/medval/triples.parquet)
-- Source: MedVAL, Algorithm S1
select
    task,
    source,
    coalesce(refusal, 'consistency below tau') as reason,
    count(*)::bigint as n
from triple
where not kept
group by task, source, coalesce(refusal, 'consistency below tau')
order by task, source, reason;
