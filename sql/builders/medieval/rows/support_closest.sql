-- The closest and earliest mention of each end of supported statements
-- Grain: one row per admission and concept. Output: support_closest(hadm_id, code, mention). Inputs: support_mention
create or replace temp table support_closest as
select
    hadm_id,
    code,
    min(closeness) & ((1::bigint << 32) - 1) as mention
from support_mention
group by hadm_id, code;
