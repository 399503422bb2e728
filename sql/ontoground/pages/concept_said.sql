-- What notes say of a concept: mentions by assertion
-- Grain: one row per (assertion, certainty)
-- Inputs: ground.mention; variable wanted (a CUI)
-- Output: rows of a concept of `ontoground explore`. Source: docs/definitions.md#mention
select
    assertion,
    certainty,
    count(*) as mentions,
    count(distinct hadm_id) as admissions
from ground.mention
where list_contains(cuis, getvariable('wanted'))
group by assertion, certainty
order by mentions desc, assertion asc, certainty asc
