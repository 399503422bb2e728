-- Ends that some patients' rows call unsupported, in lots of patients whose texts are searched at once
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: silent_end, one row per admission and end; named_end, none yet
-- Output: silent_end(lot, subject_id, hadm_id, cui), named_end(hadm_id, cui, name)
-- Inputs: labelled (rows of the part). Parameter: lot_size, patients in a lot
create or replace temp table silent_end as
select
    (dense_rank() over (order by subject_id) - 1) // getvariable('lot_size') as lot,
    *
from (
    select distinct
        subject_id,
        hadm_id,
        if(replaced_end = 'head', head_cui, tail_cui) as cui
    from labelled
    where not is_supported
) as one
order by lot;

create or replace temp table named_end (hadm_id bigint, cui varchar, name varchar);
