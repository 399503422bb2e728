-- Whether an admission with this number has a note
-- Grain: at most one row. Inputs: ehr.note; variable wanted. Output: its hadm_id, for the box of `ontoground explore`
-- Source: docs/definitions.md#warehouse
select hadm_id from ehr.note
where hadm_id = try_cast(getvariable('wanted') as bigint)
order by hadm_id
limit 1
