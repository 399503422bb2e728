-- Names found in the bare text of each admission's notes, and those that most notes have
-- Grain: named, one row per admission and name; common_name, one row per name
-- Output: named(number, name), common_name(name). Inputs: found_name, bare_admission
-- A name in three quarters of all admissions ("medication", "procedure", "condition") is the language of notes
create or replace temp table named as
select distinct
    number,
    name
from found_name
-- by admission, so that a shard reads its own part only
order by number, name;

create or replace temp table common_name as
select name
from named
group by name
having count(*) > greatest(10, 0.75 * (select count(*) from bare_admission));
