-- What the dataset's statements say, whoever the patient: many rows say the same, and each is asked once
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per statement with its evidence. Output: said. Inputs: labelled (all rows)
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
