-- The mentions that attest both ends of supported statements of some admissions
-- Grain: one row per admission and ordered pair. Output: support_pair(hadm_id, head_code, tail_code, head_mention,
--   tail_mention, linked), added to
-- Inputs: supported_pair, support_mention, present_link
-- The pair of mentions by which the context links both ends where it does; else, for each end, a mention that does not
--   attest the other end too, the closest and earliest one
insert into support_pair
with apart as (
    select supported_pair.*
    from supported_pair
    anti join present_link
        on
            supported_pair.hadm_id = present_link.hadm_id and supported_pair.head_code = present_link.head_code
            and supported_pair.tail_code = present_link.tail_code
),

ended as (
    select distinct
        hadm_id,
        unnest([head_code, tail_code]) as code,
        unnest([tail_code, head_code]) as other
    from apart
),

best as (
    select
        ended.hadm_id,
        ended.code,
        ended.other,
        -- what attests the other end too comes last
        min(one.closeness | if(both_ends.mention is null, 0, 1::bigint << 62)) & ((1::bigint << 32) - 1) as mention
    from ended
    inner join support_mention as one on ended.hadm_id = one.hadm_id and ended.code = one.code
    left join support_mention as both_ends
        on ended.hadm_id = both_ends.hadm_id and ended.other = both_ends.code and one.mention = both_ends.mention
    group by ended.hadm_id, ended.code, ended.other
)

select
    *,
    true as linked
from present_link
union all
select
    apart.hadm_id,
    apart.head_code,
    apart.tail_code,
    head.mention as head_mention,
    tail.mention as tail_mention,
    false as linked
from apart
left join best as head
    on apart.hadm_id = head.hadm_id and apart.head_code = head.code and apart.tail_code = head.other
left join best as tail
    on apart.hadm_id = tail.hadm_id and apart.tail_code = tail.code and apart.head_code = tail.other;
