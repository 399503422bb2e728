-- What each admission's texts say of each concept that is asked for
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per admission and concept
-- A name of several concepts attests the one whose own name it is
-- Output: steward_support(text_id, cui, attested, named, coded, said): attested by a name in the context that reads as
--   present and can mean nothing else; named where the context or the note may mean it in any way; coded where the
--   structured tables may; said: the readings of its names in the context, for a reader
-- Inputs: steward_asked(text_id, cui), steward_meaning, steward_name, steward_hit, steward_code(text_id, cui)
create or replace temp table steward_support as
with sense as (
    select
        meaning.cui,
        name.key,
        bool_or(meaning.role = 'attests') as attests,
        bool_or(meaning.role = 'attests' and name.preferred) as preferred
    from steward_meaning as meaning
    inner join steward_name as name on meaning.means = name.cui
    group by meaning.cui, name.key
),

other_sense as (
    select distinct
        sense.cui,
        sense.key
    from sense
    inner join steward_name as name on sense.key = name.key
    anti join steward_meaning as meaning on sense.cui = meaning.cui and name.cui = meaning.means
),

judged as (
    select
        sense.cui,
        sense.key,
        sense.attests,
        sense.preferred or other_sense.key is null as clear
    from sense
    left join other_sense on sense.cui = other_sense.cui and sense.key = other_sense.key
),

heard as (
    select
        asked.text_id,
        asked.cui,
        bool_or(
            hit.kind = 'context' and hit.reading = 'present' and judged.attests and judged.clear and not hit.covered
        ) as attested,
        bool_or(hit.kind in ('context', 'note')) as named,
        bool_or(hit.kind = 'code' and judged.attests) as coded,
        string_agg(
            distinct concat(hit.key, ': ', case
                when not judged.attests then 'more general or a combination'
                when not judged.clear then 'several meanings'
                when hit.covered then 'part of a longer name'
                else hit.reading
            end), '; '
        ) as said
    from steward_asked as asked
    inner join judged on asked.cui = judged.cui
    inner join steward_hit as hit on asked.text_id = hit.text_id and judged.key = hit.key
    group by asked.text_id, asked.cui
),

by_code as (
    select distinct
        asked.text_id,
        asked.cui
    from steward_asked as asked
    inner join steward_meaning as meaning on asked.cui = meaning.cui and meaning.role = 'attests'
    inner join steward_code as code on asked.text_id = code.text_id and meaning.means = code.cui
)

select
    asked.text_id,
    asked.cui,
    coalesce(heard.attested, false) as attested,
    coalesce(heard.named, false) as named,
    coalesce(heard.coded, false) or by_code.cui is not null as coded,
    heard.said
from steward_asked as asked
left join heard on asked.text_id = heard.text_id and asked.cui = heard.cui
left join by_code on asked.text_id = by_code.text_id and asked.cui = by_code.cui;
