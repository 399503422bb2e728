-- Names by which a text may mean the ends of facts
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: meaning, one row per end and concept; end_word, one per end, name and kind
-- Output: meaning(cui, mentioned, attests): what a word must mean to attest an end (the end, what is below it, their
--   forms), or may mean to leave it open; end_word(cui, name, attests, preferred): a name as it is written.
--   preferred: it is a concept's own name, or the one that the statement calls it by
-- Inputs: attesting, unclear_by, claim_end, reader_word(written, means), kg.name. A name with one comma also stands the
--   other way round, as texts have it
create or replace temp table meaning as
select
    cui,
    mentioned,
    true as attests
from attesting
union all
select distinct
    unclear_by.cui,
    unclear_by.mentioned,
    false as attests
from unclear_by
anti join attesting on unclear_by.cui = attesting.cui and unclear_by.mentioned = attesting.mentioned;

create or replace temp table end_word as
with called as (
    select distinct
        meaning.cui,
        meaning.attests,
        name.is_preferred or claim_end.cui is not null as preferred,
        regexp_replace(
            name.name,
            '\s*\((?:disorder|finding|substance|product|procedure|disease|situation|symptom|drug)\)$', '', 'i'
        ) as name
    from meaning
    inner join kg.name as name on meaning.mentioned = name.cui
    left join claim_end on name.cui = claim_end.cui and lower(name.name) = lower(claim_end.name)
),

turned as (
    select * from called
    union
    select * replace (regexp_replace(name, '^([^,]+), ([^,]+)$', '\2 \1') as name)
    from called
),

abbreviated as (
    select
        turned.cui,
        turned.attests,
        true as preferred,
        reader_word.written as name
    from turned
    inner join reader_word on lower(turned.name) = lower(reader_word.means)
    where turned.preferred
),

known as (
    select * from turned
    union
    select * from abbreviated
)

select
    cui,
    strip_accents(name) as name,
    bool_or(attests) as attests,
    bool_or(preferred) as preferred
from known
group by cui, strip_accents(name);
