-- Pairs of ends of supported statements that the context links, by mentions that are present
-- Grain: one row per admission and ordered pair
-- Output: present_link(hadm_id, head_code, tail_code, head_mention, tail_mention)
-- Inputs: statement, support_mention
-- Both in one sentence or list item, or one in the heading of the problem that the other stands under
-- Source: docs/definitions.md#linked
create or replace temp table present_link as
with wanted as (
    select distinct
        hadm_id,
        head_code,
        tail_code
    from statement
    where quadrant in ('Q1', 'Q3') and head_code != tail_code
),

placed as (
    select
        support_mention.hadm_id,
        support_mention.code,
        support_mention.mention,
        support_mention.segment,
        support_mention.block,
        support_mention.in_heading
    from support_mention
    where support_mention.near
),

linked as (
    select
        wanted.hadm_id,
        wanted.head_code,
        wanted.tail_code,
        -- the first mentions of both, in one number
        min((placed.mention::bigint << 32) | other.mention) as mentions
    from wanted
    inner join placed on wanted.hadm_id = placed.hadm_id and wanted.head_code = placed.code
    inner join placed as other
        on
            wanted.hadm_id = other.hadm_id and wanted.tail_code = other.code and placed.block = other.block
            and (placed.segment = other.segment or placed.in_heading or other.in_heading)
    where placed.mention != other.mention
    group by wanted.hadm_id, wanted.head_code, wanted.tail_code
)

select
    hadm_id,
    head_code,
    tail_code,
    mentions >> 32 as head_mention,
    mentions & ((1::bigint << 32) - 1) as tail_mention
from linked;
