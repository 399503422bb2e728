-- Coverage by source: distinct codes that have a concept
-- Grain: one row per source and vocabulary
-- Inputs: ground.code_map, ehr.code
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
    u.source,
    u.vocabulary,
    count(*) as codes,
    count(m.code) as mapped_codes,
    round(count(m.code) / count(*), 4) as share
from used as u
left join mapped as m
    on u.source = m.source and u.code = m.code and u.vocabulary is not distinct from m.vocabulary
group by u.source, u.vocabulary
order by u.source, u.vocabulary;
