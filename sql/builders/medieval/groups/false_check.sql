-- Statements that must not be called false, with the first reason why
-- Grain: one row per (predicate, head, tail) of false_pair; reason is null where the statement is false
-- Output: false_check(predicate, head_cui, tail_cui, reason)
-- Inputs: false_pair(predicate, head_cui, tail_cui), related(head_cui, tail_cui), known_end(predicate, place, cui),
--   area(cui, area_cui), area_step(cui, above_cui), near_fact(head_cui, predicate, tail_cui), known_use(cui, other),
--   co_stated(cui, other), lifted(cui, other), kg.name, kg.edge, kg.predicate
-- related: a path of any tier within 3 hops in either direction, of any predicate. known_end: concepts that the graph
--   knows this predicate for (local closed world). area: ancestors that are not too general: a drug that is used in
--   a disease of one area may well be used in another of it. co_stated: a note of the cohort links the two.
--   lifted: over-represented together in the records. near_use: a use of the head, or of a member of it, is a kind, a
--   cause, a complication or a symptom of the tail, however far below. An area that lies above the class of a pair
--   holds all of the class, and so tells nothing of what is in it. Source: docs/definitions.md#false
-- What costs more is asked only where the reasons before it do not hold, and areas are worked out for each end before
--   they meet the pairs: the work grows with pairs, not with pairs times facts
create or replace temp table checked_pair as
with pair as (
    select distinct
        predicate,
        head_cui,
        tail_cui
    from false_pair
)

select
    row_number() over () as pair_no,
    pair.predicate,
    pair.head_cui,
    pair.tail_cui,
    case
        when related.head_cui is not null then 'a path within 3 hops relates the ends'
        when head_known.cui is null then 'the graph knows no such relation of the head'
        when tail_known.cui is null then 'the graph knows no such relation of the tail'
    end as reason
from pair
left join related on pair.head_cui = related.head_cui and pair.tail_cui = related.tail_cui
left join known_end as head_known
    on pair.predicate = head_known.predicate and head_known.place = 'head' and pair.head_cui = head_known.cui
left join known_end as tail_known
    on pair.predicate = tail_known.predicate and tail_known.place = 'tail' and pair.tail_cui = tail_known.cui;

create or replace temp table open_pair as
select * exclude (reason) from checked_pair
where reason is null;

-- areas of the ends of open pairs only: a small table, that many rows meet
create or replace temp table end_area as
select area.*
from area
where
    area.cui in (
        select head_cui from open_pair
        union
        select tail_cui from open_pair
    );

create or replace temp table false_check as
with recursive area_of_head as (
    select distinct
        near_fact.predicate,
        near_fact.head_cui,
        area.area_cui
    from near_fact
    inner join area on near_fact.tail_cui = area.cui
    where near_fact.head_cui in (select head_cui from open_pair)
),

area_of_tail as (
    select distinct
        near_fact.predicate,
        near_fact.tail_cui,
        area.area_cui
    from near_fact
    inner join area on near_fact.head_cui = area.cui
    where near_fact.tail_cui in (select tail_cui from open_pair)
),

tail_area as (
    select distinct pair.pair_no
    from open_pair as pair
    inner join end_area as asked on pair.tail_cui = asked.cui
    inner join area_of_head as known
        on pair.predicate = known.predicate and pair.head_cui = known.head_cui and asked.area_cui = known.area_cui
    where asked.area_cui = pair.tail_cui or not list_contains(getvariable('taxonomic'), pair.predicate)
),

-- areas that lie above the class of a pair
over_class as (
    select distinct
        pair.predicate,
        pair.tail_cui,
        asked.area_cui
    from open_pair as pair
    inner join end_area as asked on pair.tail_cui = asked.cui
    where asked.area_cui != pair.tail_cui and list_contains(getvariable('taxonomic'), pair.predicate)
),

head_area as (
    select distinct pair.pair_no
    from open_pair as pair
    inner join end_area as asked on pair.head_cui = asked.cui
    inner join area_of_tail as known
        on pair.predicate = known.predicate and pair.tail_cui = known.tail_cui and asked.area_cui = known.area_cui
    anti join over_class on
        pair.predicate = over_class.predicate and pair.tail_cui = over_class.tail_cui
        and asked.area_cui = over_class.area_cui
),

class_pair as (
    select * from open_pair
    where list_contains(getvariable('taxonomic'), predicate)
),

treated_area as (
    select distinct
        near_fact.head_cui as treatment,
        area.area_cui
    from near_fact
    inner join area on near_fact.tail_cui = area.cui
    where near_fact.predicate = 'treats' and area.area_cui in (select tail_cui from class_pair)
),

-- what is treated alike may belong to one class, whatever the hierarchy of the source says
shared_treatment as (
    select distinct pair.pair_no
    from class_pair as pair
    inner join near_fact as own on pair.head_cui = own.tail_cui and own.predicate = 'treats'
    inner join treated_area on own.head_cui = treated_area.treatment and pair.tail_cui = treated_area.area_cui
),

met_area as (
    select distinct
        own.area_cui,
        other.area_cui as other_cui
    from area as own
    inner join area as other on own.cui = other.cui
    where other.area_cui in (select tail_cui from class_pair)
),

-- areas that some concept belongs to at once do not exclude each other: brain infarction is cerebral and vascular
overlapping as (
    select distinct pair.pair_no
    from class_pair as pair
    inner join end_area as own on pair.head_cui = own.cui
    inner join met_area on own.area_cui = met_area.area_cui and pair.tail_cui = met_area.other_cui
    anti join over_class on
        pair.predicate = over_class.predicate and pair.tail_cui = over_class.tail_cui
        and own.area_cui = over_class.area_cui
),

use as (
    select distinct
        near_fact.head_cui as cui,
        near_fact.predicate,
        near_fact.tail_cui as use_cui
    from near_fact
    inner join kg.predicate as line on near_fact.predicate = line.predicate
    where line.asserts_benefit
),

tied as (
    select
        use_cui,
        use_cui as other
    from use
    union
    select
        edge.head_cui as use_cui,
        edge.tail_cui as other
    from kg.edge as edge
    where list_contains(getvariable('tying'), edge.predicate) and edge.head_cui in (select use_cui from use)
    union
    select
        edge.tail_cui as use_cui,
        edge.head_cui as other
    from kg.edge as edge
    where list_contains(getvariable('tying'), edge.predicate) and edge.tail_cui in (select use_cui from use)
),

above as (
    select
        other as cui,
        other as above_cui
    from tied
    union
    select
        cui,
        cui as above_cui
    from use
    union
    select
        above.cui,
        area_step.above_cui
    from above
    inner join area_step on above.above_cui = area_step.cui
),

benefit_pair as (
    select
        pair.pair_no,
        line.predicate,
        if(pair.predicate = line.predicate, pair.head_cui, pair.tail_cui) as cui,
        if(pair.predicate = line.predicate, pair.tail_cui, pair.head_cui) as use_cui
    from open_pair as pair
    inner join kg.predicate as line on pair.predicate in (line.predicate, line.inverse)
    where line.asserts_benefit
),

used_near as (
    select distinct
        member.above_cui as cui,
        use.predicate,
        kind.above_cui as use_cui
    from use
    inner join above as member on use.cui = member.cui
    inner join tied on use.use_cui = tied.use_cui
    inner join above as kind on tied.other = kind.cui
    where
        member.above_cui in (select benefit_pair.cui from benefit_pair)
        and kind.above_cui in (select benefit_pair.use_cui from benefit_pair)
),

near_use as (
    select benefit_pair.pair_no
    from benefit_pair
    semi join used_near
        on
            benefit_pair.cui = used_near.cui and benefit_pair.predicate = used_near.predicate
            and benefit_pair.use_cui = used_near.use_cui
),

too_general as (
    select class_pair.tail_cui as cui
    from class_pair
    where class_pair.tail_cui in (select area.cui from area)
    group by class_pair.tail_cui
    having not exists (
        select 1 from area
        where area.area_cui = class_pair.tail_cui and area.cui != class_pair.tail_cui
    )
),

word as (
    select distinct
        cui,
        unnest(string_split(normalized, ' ')) as word
    from kg.name
    where cui in (
        select head_cui from open_pair
        union
        select tail_cui from open_pair
    )
),

shared_word as (
    select distinct pair.pair_no
    from open_pair as pair
    inner join word as head_word on pair.head_cui = head_word.cui
    inner join word as tail_word on pair.tail_cui = tail_word.cui and head_word.word = tail_word.word
    where length(head_word.word) >= 5
),

late_reason as (
    select
        pair.pair_no,
        case
            when tail_area.pair_no is not null then 'the head has this relation to the same area'
            when head_area.pair_no is not null then 'the tail has this relation to the same class'
            when near_use.pair_no is not null then 'a use of the head is tied to the tail'
            when known_use.cui is not null and line.asserts_benefit then 'a known use of the substance'
            when shared_treatment.pair_no is not null then 'the class holds something with the same treatment'
            when overlapping.pair_no is not null then 'the class overlaps with a class of the head'
            when
                too_general.cui is not null and list_contains(getvariable('taxonomic'), pair.predicate)
                then 'the class is too general'
            when co_stated.cui is not null then 'a note links the ends'
            when lifted.cui is not null then 'the ends are over-represented together in the records'
            when shared_word.pair_no is not null then 'the names share a word'
        end as reason
    from open_pair as pair
    left join tail_area on pair.pair_no = tail_area.pair_no
    left join head_area on pair.pair_no = head_area.pair_no
    left join near_use on pair.pair_no = near_use.pair_no
    left join kg.predicate as line on pair.predicate in (line.predicate, line.inverse)
    left join known_use on pair.head_cui = known_use.cui and pair.tail_cui = known_use.other
    left join shared_treatment on pair.pair_no = shared_treatment.pair_no
    left join overlapping on pair.pair_no = overlapping.pair_no
    left join too_general on pair.tail_cui = too_general.cui
    left join co_stated on pair.head_cui = co_stated.cui and pair.tail_cui = co_stated.other
    left join lifted on pair.head_cui = lifted.cui and pair.tail_cui = lifted.other
    left join shared_word on pair.pair_no = shared_word.pair_no
)

select
    checked_pair.predicate,
    checked_pair.head_cui,
    checked_pair.tail_cui,
    coalesce(checked_pair.reason, late_reason.reason) as reason
from checked_pair
left join late_reason on checked_pair.pair_no = late_reason.pair_no;
