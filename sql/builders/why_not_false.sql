-- Statements that must not be called false, with the first reason why
-- Grain: one row per (predicate, head, tail) of false_pair; reason is null where the statement is false
-- Output: false_check(predicate, head_cui, tail_cui, reason)
-- Inputs: false_pair(predicate, head_cui, tail_cui), related(head_cui, tail_cui), known_end(predicate, place, cui),
--   area(cui, area_cui), near_fact(head_cui, predicate, tail_cui), known_use(cui, other), co_stated(cui, other),
--   lifted(cui, other), kg.name
-- related: a path of any tier within 3 hops in either direction, of any predicate. known_end: concepts that the graph
--   knows this predicate for (local closed world). area: ancestors that are not too general: a drug that is used in
--   a disease of one area may well be used in another of it. co_stated: a note of the cohort links the two.
--   lifted: over-represented together in the records. Source: DESIGN section 4 (False)
create or replace temp table false_check as
with pair as (
    select distinct
        predicate,
        head_cui,
        tail_cui
    from false_pair
),

tail_area as (
    select distinct
        pair.predicate,
        pair.head_cui,
        pair.tail_cui
    from pair
    inner join near_fact on pair.head_cui = near_fact.head_cui and pair.predicate = near_fact.predicate
    inner join area as known on near_fact.tail_cui = known.cui
    inner join area as asked on pair.tail_cui = asked.cui and known.area_cui = asked.area_cui
),

head_area as (
    select distinct
        pair.predicate,
        pair.head_cui,
        pair.tail_cui
    from pair
    inner join near_fact on pair.tail_cui = near_fact.tail_cui and pair.predicate = near_fact.predicate
    inner join area as known on near_fact.head_cui = known.cui
    inner join area as asked on pair.head_cui = asked.cui and known.area_cui = asked.area_cui
),

-- what is treated alike may belong to one class, whatever the hierarchy of the source says
shared_treatment as (
    select distinct
        pair.predicate,
        pair.head_cui,
        pair.tail_cui
    from pair
    inner join near_fact as own on pair.head_cui = own.tail_cui and own.predicate = 'treats'
    inner join near_fact as other on own.head_cui = other.head_cui and other.predicate = 'treats'
    inner join area on other.tail_cui = area.cui and pair.tail_cui = area.area_cui
    where list_contains(getvariable('taxonomic'), pair.predicate)
),

-- areas that some concept belongs to at once do not exclude each other: brain infarction is cerebral and vascular
overlapping as (
    select distinct
        pair.predicate,
        pair.head_cui,
        pair.tail_cui
    from pair
    inner join area as own on pair.head_cui = own.cui
    inner join area as member on own.area_cui = member.area_cui
    inner join area as both_area on member.cui = both_area.cui and pair.tail_cui = both_area.area_cui
    where list_contains(getvariable('taxonomic'), pair.predicate)
),

too_general as (
    select pair.tail_cui as cui
    from pair
    where pair.tail_cui in (select area.cui from area)
    group by pair.tail_cui
    having not exists (
        select 1 from area
        where area.area_cui = pair.tail_cui and area.cui != pair.tail_cui
    )
),

word as (
    select distinct
        cui,
        unnest(string_split(normalized, ' ')) as word
    from kg.name
    where cui in (
        select head_cui from pair
        union
        select tail_cui from pair
    )
),

shared_word as (
    select distinct
        pair.head_cui,
        pair.tail_cui
    from pair
    inner join word as head_word on pair.head_cui = head_word.cui
    inner join word as tail_word on pair.tail_cui = tail_word.cui and head_word.word = tail_word.word
    where length(head_word.word) >= 5
)

select
    pair.*,
    case
        when related.head_cui is not null then 'a path within 3 hops relates the ends'
        when head_known.cui is null then 'the graph knows no such relation of the head'
        when tail_known.cui is null then 'the graph knows no such relation of the tail'
        when tail_area.head_cui is not null then 'the head has this relation to the same area'
        when head_area.head_cui is not null then 'the tail has this relation to the same class'
        when known_use.cui is not null and line.asserts_benefit then 'a known use of the substance'
        when shared_treatment.head_cui is not null then 'the class holds something with the same treatment'
        when overlapping.head_cui is not null then 'the class overlaps with a class of the head'
        when too_general.cui is not null then 'the class is too general'
        when co_stated.cui is not null then 'a note links the ends'
        when lifted.cui is not null then 'the ends are over-represented together in the records'
        when shared_word.head_cui is not null then 'the names share a word'
    end as reason
from pair
left join related on pair.head_cui = related.head_cui and pair.tail_cui = related.tail_cui
left join known_end as head_known
    on pair.predicate = head_known.predicate and head_known.place = 'head' and pair.head_cui = head_known.cui
left join known_end as tail_known
    on pair.predicate = tail_known.predicate and tail_known.place = 'tail' and pair.tail_cui = tail_known.cui
left join tail_area
    on
        pair.predicate = tail_area.predicate and pair.head_cui = tail_area.head_cui
        and pair.tail_cui = tail_area.tail_cui
left join head_area
    on
        pair.predicate = head_area.predicate and pair.head_cui = head_area.head_cui
        and pair.tail_cui = head_area.tail_cui
left join kg.predicate as line on pair.predicate in (line.predicate, line.inverse)
left join known_use on pair.head_cui = known_use.cui and pair.tail_cui = known_use.other
left join shared_treatment
    on
        pair.predicate = shared_treatment.predicate and pair.head_cui = shared_treatment.head_cui
        and pair.tail_cui = shared_treatment.tail_cui
left join overlapping
    on
        pair.predicate = overlapping.predicate and pair.head_cui = overlapping.head_cui
        and pair.tail_cui = overlapping.tail_cui
left join too_general
    on pair.tail_cui = too_general.cui and list_contains(getvariable('taxonomic'), pair.predicate)
left join co_stated on pair.head_cui = co_stated.cui and pair.tail_cui = co_stated.other
left join lifted on pair.head_cui = lifted.cui and pair.tail_cui = lifted.other
left join shared_word on pair.head_cui = shared_word.head_cui and pair.tail_cui = shared_word.tail_cui;
