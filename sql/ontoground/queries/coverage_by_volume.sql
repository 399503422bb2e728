-- Coverage by event volume: rows of each source table that have a concept
-- Grain: one row per source table; drug orders count as mapped by their code or by name
-- Inputs: ground.event
select
    source_table,
    count(*) as n_rows,
    count(*) filter (where is_mapped) as mapped_rows,
    round(mapped_rows / n_rows, 4) as share
from ground.event
group by source_table
order by source_table;
