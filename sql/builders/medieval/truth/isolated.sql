-- True facts that nothing else in the graph supports: probably errors of the source
-- Grain: one row per (head, predicate, tail) of found_fact that is isolated
-- Output: isolated(head_cui, predicate, tail_cui); the tables before it are steps to it, each smaller than the last
-- Inputs: found_fact, near_fact, area, linked_base, kg.predicate
-- Only predicates that assert a benefit are looked at, and only ends with enough facts to expect one of these: another
--   head of the same class has the tail, or the head has another tail of the same area, or two other heads share both
--   this tail and another one. Example in real lists: isosorbide, a nitrate, listed for gastro-oesophageal reflux
create or replace temp table based_pair as
select distinct
    fact.head_cui,
    fact.predicate,
    fact.tail_cui,
    coalesce(head_base.base_cui, fact.head_cui) as head_base,
    coalesce(tail_base.base_cui, fact.tail_cui) as tail_base
from found_fact as fact
inner join kg.predicate as line on fact.predicate in (line.predicate, line.inverse)
left join linked_base as head_base on fact.head_cui = head_base.cui
left join linked_base as tail_base on fact.tail_cui = tail_base.cui
where line.asserts_benefit;

create or replace temp table based_fact as
select distinct
    coalesce(head_base.base_cui, fact.head_cui) as head_base,
    fact.predicate,
    coalesce(tail_base.base_cui, fact.tail_cui) as tail_base
from near_fact as fact
left join linked_base as head_base on fact.head_cui = head_base.cui
left join linked_base as tail_base on fact.tail_cui = tail_base.cui
where fact.predicate in (select based_pair.predicate from based_pair);

create or replace temp table crowded_pair as
with crowded_head as (
    select
        head_base,
        predicate
    from based_fact
    group by head_base, predicate
    having count(*) >= getvariable('company')
),

crowded_tail as (
    select
        tail_base,
        predicate
    from based_fact
    group by tail_base, predicate
    having count(*) >= getvariable('company')
)

select distinct
    pair.head_base,
    pair.predicate,
    pair.tail_base
from based_pair as pair
semi join crowded_head on pair.head_base = crowded_head.head_base and pair.predicate = crowded_head.predicate
semi join crowded_tail on pair.tail_base = crowded_tail.tail_base and pair.predicate = crowded_tail.predicate;

-- Areas of the known others of each tail, then of each head: the least and the greatest tell whether there is another.
create or replace temp table other_class as
with head_area as (
    select
        known.predicate,
        known.tail_base,
        area.area_cui,
        min(known.head_base) as least,
        max(known.head_base) as greatest
    from based_fact as known
    inner join area on known.head_base = area.cui
    where known.tail_base in (select crowded_pair.tail_base from crowded_pair)
    group by known.predicate, known.tail_base, area.area_cui
)

select * from crowded_pair
except
select
    pair.head_base,
    pair.predicate,
    pair.tail_base
from crowded_pair as pair
inner join area on pair.head_base = area.cui
inner join head_area as peer
    on pair.predicate = peer.predicate and pair.tail_base = peer.tail_base and area.area_cui = peer.area_cui
where peer.least != pair.head_base or peer.greatest != pair.head_base;

create or replace temp table lonely_pair as
with tail_area as (
    select
        known.predicate,
        known.head_base,
        area.area_cui,
        min(known.tail_base) as least,
        max(known.tail_base) as greatest
    from based_fact as known
    inner join area on known.tail_base = area.cui
    where known.head_base in (select other_class.head_base from other_class)
    group by known.predicate, known.head_base, area.area_cui
)

select * from other_class
except
select
    pair.head_base,
    pair.predicate,
    pair.tail_base
from other_class as pair
inner join area on pair.tail_base = area.cui
inner join tail_area as peer
    on pair.predicate = peer.predicate and pair.head_base = peer.head_base and area.area_cui = peer.area_cui
where peer.least != pair.tail_base or peer.greatest != pair.tail_base;

create or replace temp table isolated as
-- Asked where neither class nor area gives company: each pair of others is looked at.
with shared_use as (
    select
        pair.head_base,
        pair.predicate,
        pair.tail_base
    from lonely_pair as pair
    inner join based_fact as peer on pair.predicate = peer.predicate and pair.tail_base = peer.tail_base
    inner join based_fact as own on pair.predicate = own.predicate and pair.head_base = own.head_base
    inner join based_fact as shared
        on
            pair.predicate = shared.predicate
            and peer.head_base = shared.head_base and own.tail_base = shared.tail_base
    where peer.head_base != pair.head_base and own.tail_base != pair.tail_base
    group by pair.head_base, pair.predicate, pair.tail_base
    having count(distinct peer.head_base) >= 2
),

alone as (
    select * from lonely_pair
    except
    select * from shared_use
)

select
    pair.head_cui,
    pair.predicate,
    pair.tail_cui
from based_pair as pair
inner join alone
    on pair.head_base = alone.head_base and pair.predicate = alone.predicate and pair.tail_base = alone.tail_base;
