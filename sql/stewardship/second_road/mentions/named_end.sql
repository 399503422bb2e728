-- Ends of some patients' unsupported rows that a text of the admission names
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per admission, end and name that a text has. Output: named_end(hadm_id, cui, name), added to
-- Inputs: silent_end, end_spelling, text_name(hadm_id, name), the spellings that texts of an admission have
insert into named_end
select
    silent_end.hadm_id,
    silent_end.cui,
    end_spelling.name
from silent_end
inner join end_spelling on silent_end.cui = end_spelling.cui
inner join text_name on silent_end.hadm_id = text_name.hadm_id and end_spelling.name = text_name.name;
