-- What the dataset's statements claim, whoever the patient: many rows make the same claim, and each is asked once
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: claim, one row per statement with its evidence; claim_end, one per end and name that a statement prints
-- Output: claim, claim_end(cui, name). Inputs: labelled (all rows)
create or replace temp table claim as
select distinct
    head_cui,
    head_name,
    predicate,
    tail_cui,
    tail_name,
    is_true,
    tier,
    path
from labelled;

create or replace temp table claim_end as
select
    head_cui as cui,
    head_name as name
from claim
union
select
    tail_cui as cui,
    tail_name as name
from claim;
