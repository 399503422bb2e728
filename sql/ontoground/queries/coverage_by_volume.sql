-- Coverage by event volume: rows of each source table that have a concept
-- Grain: one row per source table; drug orders count as mapped by their code or by name
-- Inputs: ground.code_map, ehr.diagnosis, ehr.procedure, ehr.drug
with mapped as (
    select distinct
        source,
        vocabulary,
        code
    from ground.code_map
),

event as (
    select
        d.source_table,
        m.code is not null as is_mapped
    from ehr.diagnosis as d
    left join mapped as m on d.source_table = m.source and d.code = m.code and d.vocabulary = m.vocabulary
    union all
    select
        p.source_table,
        m.code is not null as is_mapped
    from ehr.procedure as p
    left join mapped as m on p.source_table = m.source and p.code = m.code and p.vocabulary = m.vocabulary
    union all
    select
        o.source_table,
        n.code is not null or m.code is not null as is_mapped
    from ehr.drug as o
    left join mapped as n
        on o.source_table || '_' || lower(o.vocabulary) = n.source and o.code = n.code and o.vocabulary = n.vocabulary
    left join mapped as m
        on o.source_table || '_drug' = m.source and o.name = m.code and m.vocabulary is null
)

select
    source_table,
    count(*) as n_rows,
    count(*) filter (where is_mapped) as mapped_rows,
    round(mapped_rows / n_rows, 4) as share
from event
group by source_table
order by source_table;
