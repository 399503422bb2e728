-- Mentions that attest an end of a supported statement
-- Grain: one row per admission, concept, mention and way by which the mention attests the concept
-- Output: support_mention(hadm_id, code, mention, closeness, near, segment, block)
-- Inputs: statement, coded, attested. Parameter: ancestor_steps
-- closeness: the steps up to the concept, then the place in the note, in one number: the lowest is the closest and
--   earliest mention. near: close enough for a link of both ends. The kept ends of unsupported statements are ends of
--   the first statement of their group
create or replace temp table support_mention as
with ended as (
    select
        hadm_id,
        head_code as code
    from statement
    where quadrant in ('Q1', 'Q3')
    union
    select
        hadm_id,
        tail_code as code
    from statement
    where quadrant in ('Q1', 'Q3')
),

wanted as (
    select
        ended.hadm_id,
        coded.cui,
        ended.code
    from ended
    inner join coded on ended.code = coded.code
)

select
    wanted.hadm_id,
    wanted.code,
    attested.mention,
    (attested.depth::bigint << 32) | attested.mention as closeness,
    attested.relation in ('self', 'equivalent') or attested.depth <= getvariable('ancestor_steps') as near,
    attested.segment,
    attested.block
from attested
inner join wanted on attested.hadm_id = wanted.hadm_id and attested.cui = wanted.cui;
