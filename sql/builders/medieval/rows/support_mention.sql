-- Mentions that attest an end of a supported statement of some admissions
-- Grain: one row per admission, concept, mention and way by which the mention attests the concept
-- Output: support_mention(hadm_id, code, mention, closeness, near, segment, block, in_heading)
-- Inputs: supported_pair, nameable, attested, present_mention. Parameters: ancestor_steps, first_number, last_number
-- closeness: the steps up to the concept, then the place in the note, in one number: the lowest is the closest and
--   earliest mention. near: close enough for a link of both ends. The kept ends of unsupported statements are ends of
--   the first statement of their group
create or replace temp table support_mention as
with wanted as (
    select distinct
        hadm_id,
        unnest([head_code, tail_code]) as code
    from supported_pair
),

attesting as (
    select
        attested.cui,
        nameable.code,
        attested.relation in ('self', 'equivalent') or attested.depth <= getvariable('ancestor_steps') as near,
        attested.depth::bigint << 32 as farness
    from attested
    inner join nameable on attested.other = nameable.cui
),

meant as (
    select distinct
        hadm_id,
        cui
    from present_mention
    where number between getvariable('first_number') and getvariable('last_number')
),

-- in its turn: DuckDB takes the join of all that attests with all that is wanted of any admission for small
held as materialized (
    select
        meant.hadm_id,
        meant.cui,
        attesting.code,
        attesting.near,
        attesting.farness
    from meant
    inner join attesting on meant.cui = attesting.cui
)

select
    held.hadm_id,
    held.code,
    present_mention.mention,
    held.farness | present_mention.mention as closeness,
    held.near,
    present_mention.segment,
    present_mention.block,
    present_mention.in_heading
from held
inner join wanted on held.hadm_id = wanted.hadm_id and held.code = wanted.code
inner join present_mention on held.hadm_id = present_mention.hadm_id and held.cui = present_mention.cui
where present_mention.number between getvariable('first_number') and getvariable('last_number');
