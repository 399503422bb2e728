-- Ends that some patients' rows call unsupported, and the names that they may have in a text
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: silent_end, one row per admission and end; silent_name, one per name; named_end, none yet
-- Output: silent_end(hadm_id, cui), silent_name(name), named_end(hadm_id, cui, name)
-- Inputs: labelled (rows of the part), end_spelling(cui, name)
create or replace temp table silent_end as
select distinct
    hadm_id,
    if(replaced_end = 'head', head_cui, tail_cui) as cui
from labelled
where not is_supported;

create or replace temp view silent_name as
select distinct end_spelling.name
from end_spelling
semi join silent_end on end_spelling.cui = silent_end.cui;

create or replace temp table named_end (hadm_id bigint, cui varchar, name varchar);
