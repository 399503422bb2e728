-- Pairs of ends of supported statements that the context links, by mentions that are present
-- Grain: one row per admission and ordered pair
-- Output: present_link(hadm_id, head_code, tail_code, head_mention, tail_mention)
-- Inputs: supported_pair, support_mention
-- Both in one sentence or list item, or one in the heading of the problem that the other stands under
-- Source: docs/definitions.md#linked
create or replace temp table present_link as
with linked as (
    select
        supported_pair.hadm_id,
        supported_pair.head_code,
        supported_pair.tail_code,
        -- the first mentions of both, in one number
        min((placed.mention::bigint << 32) | other.mention) as mentions
    from supported_pair
    inner join support_mention as placed
        on supported_pair.hadm_id = placed.hadm_id and supported_pair.head_code = placed.code
    inner join support_mention as other
        on
            supported_pair.hadm_id = other.hadm_id and supported_pair.tail_code = other.code
            and placed.block = other.block
            and (placed.segment = other.segment or placed.in_heading or other.in_heading)
    where
        placed.near and other.near and placed.mention != other.mention
        and supported_pair.head_code != supported_pair.tail_code
    group by supported_pair.hadm_id, supported_pair.head_code, supported_pair.tail_code
)

select
    hadm_id,
    head_code,
    tail_code,
    mentions >> 32 as head_mention,
    mentions & ((1::bigint << 32) - 1) as tail_mention
from linked;
