-- Groups of statements: one per fact of an admission, with the end that its other statements replace
-- Grain: one row per group
-- Output: fact_group(group_id, hadm_id, predicate, head_cui, tail_cui, pattern, tier, hops, slot, original_cui, kept_cui)
-- Inputs: admission_fact
-- Source: DESIGN section 6 (the replaced end varies)
create or replace temp table fact_group as
with keyed as (
    select
        *,
        concat(
            hadm_id, '-', left(md5(concat_ws(chr(31), getvariable('seed'), head_cui, predicate, tail_cui)), 12)
        ) as group_id
    from admission_fact
),

slotted as (
    select
        *,
        case when unit(concat_ws(chr(31), 'slot', group_id)) <= 0.5 then 'head' else 'tail' end as slot
    from keyed
)

select
    *,
    if(slot = 'head', head_cui, tail_cui) as original_cui,
    if(slot = 'head', tail_cui, head_cui) as kept_cui
from slotted;
