-- Error categories: of the edits that made perturbed outputs, and of what the validator names in kept outputs
-- Grain: one row per side (edit, clean, perturbed) and category; 'none' for edits without clinical meaning
-- Output: side, category, n
-- Inputs: triple (datasets/medval/triples.parquet)
-- Source: MedVAL, table of error categories
with named as (
    select
        'edit' as side,
        unnest(perturbed_edits).category as category
    from triple
    where kept
    union all
    select
        'clean' as side,
        unnest(clean_errors).category as category
    from triple
    where kept
    union all
    select
        'perturbed' as side,
        unnest(perturbed_errors).category as category
    from triple
    where kept
)

select
    side,
    coalesce(category, 'none') as category,
    count(*)::bigint as n
from named
group by side, category
order by side, category;
