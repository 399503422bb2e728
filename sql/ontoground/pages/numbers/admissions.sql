-- How much of a median admission has a concept
-- Grain: one row. Inputs: ground.event. Output: (value, unit, detail) for the first page of `ontoground explore`
-- Source: docs/definitions.md#code
with covered as (
    select avg(is_mapped::integer) as share
    from ground.event
    where hadm_id is not null
    group by hadm_id
)

select
    coalesce(round(100 * quantile_disc(share, 0.5), 1), 0) as value,
    '% of the median admission mapped' as unit,
    format(
        'of {:,} admissions with codes {:,} are mapped whole, {:,} not at all; a tenth stays below {:.1f}%',
        count(*),
        count(*) filter (where share = 1),
        count(*) filter (where share = 0),
        coalesce(100 * quantile_disc(share, 0.1), 0)
    ) as detail
from covered
