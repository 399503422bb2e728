-- Supported rows of the contradicted configuration: what a contradicted statement is to be one of
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per supported row. Output: partner. Inputs: denying (all rows of contradicted/)
create or replace temp table partner as
select
    statement,
    predicate,
    head_cui,
    head_name,
    tail_cui,
    tail_name,
    is_true,
    hops,
    tier,
    path,
    why_false,
    split,
    fact_split
from denying
where is_supported;
