-- Coverage by source: distinct codes that have a concept
-- Grain: one row per source and vocabulary
-- Inputs: ground.code_use
select
    source,
    vocabulary,
    count(*) as codes,
    count(method) as mapped_codes,
    round(mapped_codes / codes, 4) as share
from ground.code_use
where trim(code) <> '0'
group by source, vocabulary
order by source, vocabulary;
