-- Statements that must not be called false, with the first reason why: some pairs at a time
-- Grain: false_check, one row per row of false_pair; reason is null where the statement is false. false_reason, one row
--   per call and reason, added to
-- Output: false_check(asked_no, reason), false_reason(reason, n)
-- Inputs: false_pair(asked_no, predicate, head_cui, tail_cui, is_related, is_linked, is_lifted), known_end(predicate,
--   place, cui), the tables of false_ground.sql, near_fact(head_cui, predicate, tail_cui), known_use(cui, other),
--   kg.predicate
-- is_related: a path of any tier within 3 hops in either direction, of any predicate. known_end: concepts that the
--   graph knows this predicate for (local closed world). area: ancestors that are not too general: a drug that is used
--   in a disease of one area may well be used in another of it. is_linked: a note of the cohort links the two.
--   is_lifted: over-represented together in the records. near_use: a use of the head, or of a member of it, is a kind,
--   a cause, a complication or a symptom of the tail, however far below. An area that lies above the class of a pair
--   holds all of the class, and so tells nothing of what is in it. Source: docs/definitions.md#false
-- What costs more is asked only where the reasons before it do not hold
create or replace temp table checked_pair as
select
    pair.asked_no,
    pair.predicate,
    pair.head_cui,
    pair.tail_cui,
    pair.is_linked,
    pair.is_lifted,
    case
        when pair.is_related then 'a path within 3 hops relates the ends'
        when head_known.cui is null then 'the graph knows no such relation of the head'
        when tail_known.cui is null then 'the graph knows no such relation of the tail'
    end as reason
from false_pair as pair
left join known_end as head_known
    on pair.predicate = head_known.predicate and head_known.place = 'head' and pair.head_cui = head_known.cui
left join known_end as tail_known
    on pair.predicate = tail_known.predicate and tail_known.place = 'tail' and pair.tail_cui = tail_known.cui;

create or replace temp table open_pair as
select * exclude (reason) from checked_pair
where reason is null;

create or replace temp table false_check as
with tail_area as (
    select distinct pair.asked_no
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
    select distinct pair.asked_no
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

-- what is treated alike may belong to one class, whatever the hierarchy of the source says
shared_treatment as (
    select distinct pair.asked_no
    from class_pair as pair
    inner join near_fact as own on pair.head_cui = own.tail_cui and own.predicate = 'treats'
    inner join treated_area on own.head_cui = treated_area.treatment and pair.tail_cui = treated_area.area_cui
),

-- areas that some concept belongs to at once do not exclude each other: brain infarction is cerebral and vascular
overlapping as (
    select distinct pair.asked_no
    from class_pair as pair
    inner join end_area as own on pair.head_cui = own.cui
    inner join met_area on own.area_cui = met_area.area_cui and pair.tail_cui = met_area.other_cui
    anti join over_class on
        pair.predicate = over_class.predicate and pair.tail_cui = over_class.tail_cui
        and own.area_cui = over_class.area_cui
),

benefit_pair as (
    select
        pair.asked_no,
        line.predicate,
        if(pair.predicate = line.predicate, pair.head_cui, pair.tail_cui) as cui,
        if(pair.predicate = line.predicate, pair.tail_cui, pair.head_cui) as use_cui
    from open_pair as pair
    inner join kg.predicate as line on pair.predicate in (line.predicate, line.inverse)
    where line.asserts_benefit
),

near_use as (
    select benefit_pair.asked_no
    from benefit_pair
    semi join used_near
        on
            benefit_pair.cui = used_near.cui and benefit_pair.predicate = used_near.predicate
            and benefit_pair.use_cui = used_near.use_cui
),

shared_word as (
    select distinct pair.asked_no
    from open_pair as pair
    inner join word as head_word on pair.head_cui = head_word.cui
    inner join word as tail_word on pair.tail_cui = tail_word.cui and head_word.word = tail_word.word
),

late_reason as (
    select
        pair.asked_no,
        case
            when tail_area.asked_no is not null then 'the head has this relation to the same area'
            when head_area.asked_no is not null then 'the tail has this relation to the same class'
            when near_use.asked_no is not null then 'a use of the head is tied to the tail'
            when known_use.cui is not null and line.asserts_benefit then 'a known use of the substance'
            when shared_treatment.asked_no is not null then 'the class holds something with the same treatment'
            when overlapping.asked_no is not null then 'the class overlaps with a class of the head'
            when
                too_general.cui is not null and list_contains(getvariable('taxonomic'), pair.predicate)
                then 'the class is too general'
            when pair.is_linked then 'a note links the ends'
            when pair.is_lifted then 'the ends are over-represented together in the records'
            when shared_word.asked_no is not null then 'the names share a word'
        end as reason
    from open_pair as pair
    left join tail_area on pair.asked_no = tail_area.asked_no
    left join head_area on pair.asked_no = head_area.asked_no
    left join near_use on pair.asked_no = near_use.asked_no
    left join kg.predicate as line on pair.predicate in (line.predicate, line.inverse)
    left join known_use on pair.head_cui = known_use.cui and pair.tail_cui = known_use.other
    left join shared_treatment on pair.asked_no = shared_treatment.asked_no
    left join overlapping on pair.asked_no = overlapping.asked_no
    left join too_general on pair.tail_cui = too_general.cui
    left join shared_word on pair.asked_no = shared_word.asked_no
)

select
    checked_pair.asked_no,
    coalesce(checked_pair.reason, late_reason.reason) as reason
from checked_pair
left join late_reason on checked_pair.asked_no = late_reason.asked_no;

insert into false_reason
select
    reason,
    count(*) as n
from false_check
where reason is not null
group by reason;
