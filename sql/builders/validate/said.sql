-- What the dataset's statements say, whoever the patient: many rows say the same, and each is asked once
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: said, one row per statement with its evidence; said_end, one per end and name that a statement prints
-- Output: said, said_end(cui, name). Inputs: labelled (all rows)
create or replace temp table said as
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

create or replace temp table said_end as
select
    head_cui as cui,
    head_name as name
from said
union
select
    tail_cui as cui,
    tail_name as name
from said;
