-- What tells that statements must not be called false, whichever pairs of ends are looked at
-- Grain: end_area, one row per concept and area; area_of_head and area_of_tail, one row per predicate, concept and
--   area; treated_area, one row per treatment and area; met_area, one row per pair of areas; used_near, one row per
--   substance, predicate and use; too_general, one row per class; word, one row per concept and word
-- Output: end_area(cui, area_cui), area_of_head(predicate, head_cui, area_cui), area_of_tail(predicate, tail_cui,
--   area_cui), treated_area(treatment, area_cui), met_area(area_cui, other_cui), used_near(cui, predicate, use_cui),
--   too_general(cui), word(cui, word)
-- Inputs: asked_concept, coded, known_end, area, area_step, near_fact, kg.name, kg.edge, kg.predicate.
--   Parameters: taxonomic, tying
-- Of concepts that are asked for only, and of classes that the graph knows members of. Areas are worked out for each
--   end before they meet the pairs: the work grows with pairs, not with pairs times facts
create or replace temp table asked_end as
select coded.cui
from coded
semi join asked_concept on coded.code = asked_concept.code;

create or replace temp table asked_class as
select distinct known_end.cui
from known_end
semi join asked_end on known_end.cui = asked_end.cui
where known_end.place = 'tail' and list_contains(getvariable('taxonomic'), known_end.predicate);

create or replace temp table end_area as
select area.*
from area
semi join asked_end on area.cui = asked_end.cui;

create or replace temp table area_of_head as
select distinct
    near_fact.predicate,
    near_fact.head_cui,
    area.area_cui
from near_fact
inner join area on near_fact.tail_cui = area.cui
where near_fact.head_cui in (select asked_end.cui from asked_end);

create or replace temp table area_of_tail as
select distinct
    near_fact.predicate,
    near_fact.tail_cui,
    area.area_cui
from near_fact
inner join area on near_fact.head_cui = area.cui
where near_fact.tail_cui in (select asked_end.cui from asked_end);

create or replace temp table treated_area as
select distinct
    near_fact.head_cui as treatment,
    area.area_cui
from near_fact
inner join area on near_fact.tail_cui = area.cui
where near_fact.predicate = 'treats' and area.area_cui in (select asked_class.cui from asked_class);

create or replace temp table met_area as
select distinct
    own.area_cui,
    other.area_cui as other_cui
from area as own
inner join area as other on own.cui = other.cui
where other.area_cui in (select asked_class.cui from asked_class);

create or replace temp table used_near as
with recursive use as (
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
)

select distinct
    member.above_cui as cui,
    use.predicate,
    kind.above_cui as use_cui
from use
inner join above as member on use.cui = member.cui
inner join tied on use.use_cui = tied.use_cui
inner join above as kind on tied.other = kind.cui
where
    member.above_cui in (select asked_end.cui from asked_end)
    and kind.above_cui in (select asked_end.cui from asked_end);

create or replace temp table too_general as
select asked_class.cui
from asked_class
where
    asked_class.cui in (select area.cui from area)
    and not exists (
        select 1 from area
        where area.area_cui = asked_class.cui and area.cui != asked_class.cui
    );

create or replace temp table word as
select distinct
    cui,
    word
from (
    select
        name.cui,
        unnest(string_split(name.normalized, ' ')) as word
    from kg.name as name
    where name.cui in (select asked_end.cui from asked_end)
) as every_word
-- shorter ones are no word of a name by themselves
where length(word) >= 5;
