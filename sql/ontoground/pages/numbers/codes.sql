-- Which share of the distinct codes and drug names of the records has a concept
-- Grain: one row. Inputs: ground.code_map, ehr.code. Output: (value, unit, detail) for the first page of
--   `ontoground explore`
-- Source: docs/definitions.md#code
with used as (
    select distinct
        source,
        vocabulary,
        code
    from ehr.code
    where trim(code) not in ('', '0')
),

mapped as (
    select distinct
        source,
        vocabulary,
        code
    from ground.code_map
)

select
    round(100.0 * count(m.code) / greatest(count(*), 1), 1) as value,
    '% of codes mapped' as unit,
    'of ' || format('{:,}', count(*)) || ' distinct codes and drug names' as detail
from used as u
left join mapped as m
    on u.source = m.source and u.code = m.code and u.vocabulary is not distinct from m.vocabulary
