-- The closest and earliest mention of each end of supported statements of some admissions
-- Grain: one row per admission and concept. Output: support_closest(hadm_id, code, mention), added to
-- Inputs: support_mention
insert into support_closest
select
    hadm_id,
    code,
    min(closeness) & ((1::bigint << 32) - 1) as mention
from support_mention
group by hadm_id, code;
