-- How many notes the workspace holds, and of how many admissions
-- Grain: one row. Inputs: ehr.note. Output: (value, unit, detail) for the first page of `ontoground explore`
-- Source: docs/definitions.md#warehouse
select
    count(*) as value,
    'notes' as unit,
    'of ' || format('{:,}', count(distinct hadm_id)) || ' admissions' as detail
from ehr.note
