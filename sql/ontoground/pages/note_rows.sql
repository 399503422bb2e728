-- Rows that rest on mentions of an admission's notes
-- Grain: one row per (row, mention that supports it)
-- Inputs: variables dataset (name of the view of a configuration of MediEval), wanted (the admission)
-- Output: what the mentions of a note link to in `ontoground explore`. Source: docs/medieval.md
select distinct
    id,
    quadrant,
    statement,
    span.begin_offset,
    span.end_offset,
    span.text
from (
    select
        id,
        quadrant,
        statement,
        unnest(support_spans) as span
    from query_table(getvariable('dataset'))
    where hadm_id::varchar = getvariable('wanted')
) as resting
order by quadrant, statement, id
