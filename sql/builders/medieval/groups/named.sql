-- Names found in the bare text of each admission's notes
-- Grain: one row per admission and name. Output: named(number, name). Inputs: found_name
create or replace temp table named as
select distinct
    number,
    name
from found_name
-- by admission, so that a shard reads its own part only
order by number, name;
