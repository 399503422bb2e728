-- True facts that nothing else in the graph supports: probably errors of the source
-- Grain: one row per (head, predicate, tail) of found_fact that is isolated
-- Output: isolated(head_cui, predicate, tail_cui)
-- Inputs: found_fact, near_fact, area, linked_base, kg.predicate
-- Only predicates that assert a benefit are looked at, and only ends with enough facts to expect one of these: another
--   head of the same class has the tail, or the head has another tail of the same area, or two other heads share both
--   this tail and another one. Example in real lists: isosorbide, a nitrate, listed for gastro-oesophageal reflux
create or replace temp table isolated as
with asked_pair as (
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
    where line.asserts_benefit
),

asked as (
    select distinct
        head_base,
        predicate,
        tail_base
    from asked_pair
),

known as (
    select distinct
        coalesce(head_base.base_cui, fact.head_cui) as head_base,
        fact.predicate,
        coalesce(tail_base.base_cui, fact.tail_cui) as tail_base
    from near_fact as fact
    left join linked_base as head_base on fact.head_cui = head_base.cui
    left join linked_base as tail_base on fact.tail_cui = tail_base.cui
    where fact.predicate in (select asked.predicate from asked)
),

crowded_head as (
    select
        head_base,
        predicate
    from known
    group by head_base, predicate
    having count(*) >= getvariable('company')
),

crowded_tail as (
    select
        tail_base,
        predicate
    from known
    group by tail_base, predicate
    having count(*) >= getvariable('company')
),

-- Areas of the known others of each tail and of each head: the least and the greatest tell whether there is another.
head_area as (
    select
        known.predicate,
        known.tail_base,
        area.area_cui,
        min(known.head_base) as least,
        max(known.head_base) as greatest
    from known
    inner join area on known.head_base = area.cui
    where known.tail_base in (select asked.tail_base from asked)
    group by known.predicate, known.tail_base, area.area_cui
),

tail_area as (
    select
        known.predicate,
        known.head_base,
        area.area_cui,
        min(known.tail_base) as least,
        max(known.tail_base) as greatest
    from known
    inner join area on known.tail_base = area.cui
    where known.head_base in (select asked.head_base from asked)
    group by known.predicate, known.head_base, area.area_cui
),

same_class as (
    select
        asked.head_base,
        asked.predicate,
        asked.tail_base
    from asked
    inner join area as own_area on asked.head_base = own_area.cui
    inner join head_area as peer
        on
            asked.predicate = peer.predicate and asked.tail_base = peer.tail_base
            and own_area.area_cui = peer.area_cui
    where peer.least != asked.head_base or peer.greatest != asked.head_base
),

same_area as (
    select
        asked.head_base,
        asked.predicate,
        asked.tail_base
    from asked
    inner join area as own_area on asked.tail_base = own_area.cui
    inner join tail_area as peer
        on
            asked.predicate = peer.predicate and asked.head_base = peer.head_base
            and own_area.area_cui = peer.area_cui
    where peer.least != asked.tail_base or peer.greatest != asked.tail_base
),

-- Asked where neither class nor area gives company, as far as ends are crowded: each pair of others is looked at.
lonely as (
    select asked.*
    from asked
    inner join crowded_head on asked.head_base = crowded_head.head_base and asked.predicate = crowded_head.predicate
    inner join crowded_tail on asked.tail_base = crowded_tail.tail_base and asked.predicate = crowded_tail.predicate
    anti join same_class
        on
            asked.head_base = same_class.head_base and asked.predicate = same_class.predicate
            and asked.tail_base = same_class.tail_base
    anti join same_area
        on
            asked.head_base = same_area.head_base and asked.predicate = same_area.predicate
            and asked.tail_base = same_area.tail_base
),

shared_use as (
    select
        lonely.head_base,
        lonely.predicate,
        lonely.tail_base
    from lonely
    inner join known as peer on lonely.predicate = peer.predicate and lonely.tail_base = peer.tail_base
    inner join known as own on lonely.predicate = own.predicate and lonely.head_base = own.head_base
    inner join known as shared
        on
            lonely.predicate = shared.predicate
            and peer.head_base = shared.head_base and own.tail_base = shared.tail_base
    where peer.head_base != lonely.head_base and own.tail_base != lonely.tail_base
    group by lonely.head_base, lonely.predicate, lonely.tail_base
    having count(distinct peer.head_base) >= 2
),

in_company as (
    select * from same_class
    union
    select * from same_area
    union
    select * from shared_use
)

select
    asked_pair.head_cui,
    asked_pair.predicate,
    asked_pair.tail_cui
from asked_pair
inner join crowded_head
    on asked_pair.head_base = crowded_head.head_base and asked_pair.predicate = crowded_head.predicate
inner join crowded_tail
    on asked_pair.tail_base = crowded_tail.tail_base and asked_pair.predicate = crowded_tail.predicate
left join in_company
    on
        asked_pair.head_base = in_company.head_base and asked_pair.predicate = in_company.predicate
        and asked_pair.tail_base = in_company.tail_base
where in_company.head_base is null;
