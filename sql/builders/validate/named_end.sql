-- Ends of some patients' unsupported rows that a text of the admission names
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per admission, end and name that was found. Output: named_end(hadm_id, cui, name), added to
-- Inputs: silent_end, spelled, written(hadm_id, name), the spellings that texts of an admission have
insert into named_end
select
    silent_end.hadm_id,
    silent_end.cui,
    spelled.name
from silent_end
inner join spelled on silent_end.cui = spelled.cui
inner join written on silent_end.hadm_id = written.hadm_id and spelled.name = written.name;
