-- Rows of the records that carry a code, and whether they have a concept
-- Grain: one row per diagnosis, procedure and drug order; an order counts as mapped by its code or by its name
-- Inputs: ground.code_map, ehr.event
-- Output: view ground.event(hadm_id, source_table, is_mapped). Source: docs/definitions.md#code
create or replace view ground.event as
with mapped as (
    select distinct
        source,
        vocabulary,
        code
    from ground.code_map
)

select
    e.hadm_id,
    e.source_table,
    c.code is not null or n.code is not null as is_mapped
from ehr.event as e
left join mapped as c
    on
        e.source_table || if(e.kind = 'drug', '_' || lower(e.vocabulary), '') = c.source
        and e.code = c.code and e.vocabulary = c.vocabulary
left join mapped as n
    on e.source_table || '_drug' = n.source and e.name = n.code and n.vocabulary is null
where e.kind in ('diagnosis', 'procedure', 'drug');
