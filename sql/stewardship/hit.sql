-- Where the texts hold a name of a concept, and how the words around it read
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per text, place and length
-- Output: steward_hit(text_id, kind, place, n, key, covered, reading): covered where a longer name holds it; reading is
--   present, or what the nearest cue in reach says
-- Inputs: steward_phrase, steward_name(key, cui, shape), steward_cue(key, reading, side, reach)
-- Source: the cues are those of NegEx and ConText (stewardship/data/assertion_cues.tsv)
create or replace temp table steward_hit as
with named as (
    select phrase.*
    from steward_phrase as phrase
    semi join steward_name as name
        on phrase.key = name.key and (name.shape is null or phrase.shape = name.shape)
),

cued as (
    select
        phrase.*,
        cue.reading,
        cue.side,
        cue.reach
    from steward_phrase as phrase
    inner join steward_cue as cue on phrase.key = cue.key
),

covering as (
    select distinct
        short.text_id,
        short.kind,
        short.place,
        short.n
    from named as short
    inner join named as long
        on
            short.text_id = long.text_id and short.kind = long.kind and short.sentence = long.sentence
            and short.n < long.n and short.place >= long.place and short.place + short.n <= long.place + long.n
),

in_reach as (
    select
        named.text_id,
        named.kind,
        named.place,
        named.n,
        cued.reading,
        if(cued.side = 'before', named.place - cued.place - cued.n, cued.place - named.place - named.n) as gap,
        least(cued.place, named.place) as first_place,
        greatest(cued.place, named.place) as last_place,
        named.sentence
    from named
    inner join cued
        on named.text_id = cued.text_id and named.kind = cued.kind and named.sentence = cued.sentence
    where
        cued.side in ('before', 'after') and gap between 0 and cued.reach
        -- a denial holds for a whole list (no fever, chills), other cues end with the comma
        and (named.clause = cued.clause or cued.reading in ('absent', 'family', 'allergy'))
),

heard as (
    select
        in_reach.text_id,
        in_reach.kind,
        in_reach.place,
        in_reach.n,
        arg_min(in_reach.reading, in_reach.gap) as reading
    from in_reach
    anti join cued as stop
        on
            in_reach.text_id = stop.text_id and in_reach.kind = stop.kind and in_reach.sentence = stop.sentence
            and in_reach.first_place < stop.place and in_reach.last_place > stop.place and stop.side = 'stop'
    group by in_reach.text_id, in_reach.kind, in_reach.place, in_reach.n
)

select
    named.text_id,
    named.kind,
    named.place,
    named.n,
    named.key,
    covering.place is not null as covered,
    coalesce(heard.reading, 'present') as reading
from named
left join covering
    on
        named.text_id = covering.text_id and named.kind = covering.kind
        and named.place = covering.place and named.n = covering.n
left join heard
    on
        named.text_id = heard.text_id and named.kind = heard.kind
        and named.place = heard.place and named.n = heard.n;
