-- Rows of the records that carry a code, and whether they have a concept
-- Grain: one row per diagnosis, procedure and drug order; an order counts as mapped by its code or by its name
-- Inputs: ground.code_map, ehr.diagnosis, ehr.procedure, ehr.drug
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
    d.hadm_id,
    d.source_table,
    m.code is not null as is_mapped
from ehr.diagnosis as d
left join mapped as m on d.source_table = m.source and d.code = m.code and d.vocabulary = m.vocabulary
union all
select
    p.hadm_id,
    p.source_table,
    m.code is not null as is_mapped
from ehr.procedure as p
left join mapped as m on p.source_table = m.source and p.code = m.code and p.vocabulary = m.vocabulary
union all
select
    o.hadm_id,
    o.source_table,
    n.code is not null or m.code is not null as is_mapped
from ehr.drug as o
left join mapped as n
    on o.source_table || '_' || lower(o.vocabulary) = n.source and o.code = n.code and o.vocabulary = n.vocabulary
left join mapped as m
    on o.source_table || '_drug' = m.source and o.name = m.code and m.vocabulary is null;
