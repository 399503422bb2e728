-- Ends that some patients' rows call unsupported
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: silent_end, one row per admission and end; named_end, none yet
-- Output: silent_end(hadm_id, cui), named_end(hadm_id, cui, name). Inputs: labelled (rows of the part)
create or replace temp table silent_end as
select distinct
    hadm_id,
    if(replaced_end = 'head', head_cui, tail_cui) as cui
from labelled
where not is_supported;

create or replace temp table named_end (hadm_id bigint, cui varchar, name varchar);
