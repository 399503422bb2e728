-- What the records of admissions state of a concept, by kind
-- Grain: one row per (kind, source table)
-- Inputs: ground.admission_concept; variable wanted (a CUI)
-- Output: rows of a concept of `ontoground explore`. Source: docs/definitions.md#concept
select
    kind,
    source_table,
    count(distinct hadm_id) as admissions
from ground.admission_concept
where cui = getvariable('wanted')
group by kind, source_table
order by admissions desc, kind asc, source_table asc
