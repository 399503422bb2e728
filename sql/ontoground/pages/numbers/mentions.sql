-- How many mentions the notes have, and which share of them is certain
-- Grain: one row. Inputs: ground.mention. Output: (value, unit, detail) for the first page of `ontoground explore`
-- Source: docs/definitions.md#certainty
select
    count(*) as value,
    'mentions' as unit,
    format('{:.0f}% certain', 100.0 * count(*) filter (where certainty <> 'unsure') / greatest(count(*), 1)) as detail
from ground.mention
