-- Groups of statements that could be made: one per fact of an admission and end that its other statements replace
-- Grain: one row per fact and place of the replaced end
-- Output: fact_group(group_id, fact_id, hadm_id, predicate, head_cui, tail_cui, pattern, tier, hops, slot,
--   original_cui,
--   kept_cui)
-- Inputs: admission_fact. One of the two places is picked later (sql/builders/group_limit.sql)
-- Source: DESIGN section 6 (the replaced end varies)
create or replace temp table fact_group as
with keyed as (
    select
        *,
        concat(
            hadm_id, '-', left(md5(concat_ws(chr(31), getvariable('seed'), head_cui, predicate, tail_cui)), 12)
        ) as fact_id
    from admission_fact
)

select
    concat(keyed.fact_id, '-', left(place.slot, 1)) as group_id,
    keyed.*,
    place.slot,
    if(place.slot = 'head', keyed.head_cui, keyed.tail_cui) as original_cui,
    if(place.slot = 'head', keyed.tail_cui, keyed.head_cui) as kept_cui
from keyed
cross join (values ('head'), ('tail')) as place (slot);
