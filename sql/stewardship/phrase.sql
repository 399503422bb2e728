-- Runs of one to six words of one sentence, as one key each
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per text, first word and length
-- Output: steward_phrase(text_id, kind, place, n, sentence, clause, key, shape)
-- Inputs: steward_word
create or replace temp table steward_phrase as
with ahead as (
    select
        text_id,
        kind,
        place,
        sentence,
        clause,
        word as key1,
        concat_ws(' ', key1, lead(word, 1) over following) as key2,
        concat_ws(' ', key2, lead(word, 2) over following) as key3,
        concat_ws(' ', key3, lead(word, 3) over following) as key4,
        concat_ws(' ', key4, lead(word, 4) over following) as key5,
        concat_ws(' ', key5, lead(word, 5) over following) as key6,
        shape,
        count(*) over (following rows between current row and unbounded following) as rest
    from steward_word
    window following as (partition by text_id, kind, sentence order by place)
)

select
    text_id,
    kind,
    place,
    length_of.n,
    sentence,
    clause,
    [key1, key2, key3, key4, key5, key6][length_of.n] as key,
    if(length_of.n = 1, shape, null) as shape
from ahead
cross join (select unnest(range(1, 7)) as n) as length_of
where length_of.n <= rest;
