-- The level that an output was made at against the level that the validator gave it
-- Grain: one row per variant, asked level and given level, of triples that were judged
-- Output: variant, asked, given, judged, kept
-- Inputs: triple (datasets/medval/triples.parquet)
-- Source: MedVAL, equation 1 (absolute consistency)
with side as (
    select
        'clean' as variant,
        1 as asked,
        clean_level as given,
        kept
    from triple
    where clean_level is not null and perturbed_level is not null
    union all
    select
        'perturbed' as variant,
        level as asked,
        perturbed_level as given,
        kept
    from triple
    where clean_level is not null and perturbed_level is not null
)

select
    variant,
    asked,
    given,
    count(*)::bigint as judged,
    count(*) filter (where kept)::bigint as kept
from side
group by variant, asked, given
order by variant, asked, given;
