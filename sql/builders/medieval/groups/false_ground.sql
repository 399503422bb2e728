-- Why statements must not be called false: what is known of their heads and, in the same words, of their tails
-- Grain: ground, one row per reason, scope, side, concept and key; scope, one row per predicate of statements and scope
-- Output: ground(reason, scope, side, code, key), scope(predicate, scope). A statement must not be called false where
--   its head and its tail have a key in common, for a reason and in a scope of its predicate: a predicate, all that
--   name a class or all others, all that assert a benefit, or any
-- Inputs: asked_concept, nameable, argument, known_end, area, area_step, near_fact, known_user, known_kin,
--   kg.name, kg.edge, kg.predicate. Parameters: taxonomic, tying
-- Of concepts that are asked for only, and of classes that the graph knows members of: the work grows with concepts,
--   not with the pairs of them. area: ancestors that are not too general: a drug that is used in a disease of one area
--   may well be used in another of it. An area that lies above the class of a pair holds all of the class, and so tells
--   nothing of what is in it. Areas that some concept belongs to at once do not exclude each other: brain infarction is
--   cerebral and vascular. What is treated alike may belong to one class, whatever the hierarchy of the source says.
--   used_near and tied_use: a use of the head, or of a member of it, is a kind, a cause, a complication or a symptom of
--   the tail, however far below. Source: docs/definitions.md#false
create or replace temp table asked_end as
select
    nameable.cui,
    nameable.code
from nameable
semi join asked_concept on nameable.code = asked_concept.code;

create or replace temp table scope as
with line as (
    select
        argument.predicate,
        bool_or(line.asserts_benefit) as asserts_benefit
    from argument
    inner join kg.predicate as line on argument.predicate in (line.predicate, line.inverse)
    group by argument.predicate
)

select
    predicate,
    unnest(
        ['any', predicate, if(list_contains(getvariable('taxonomic'), predicate), 'class', 'no class')]
        || if(asserts_benefit, ['benefit'], [])
    ) as scope
from line;

create or replace temp table asked_class as
select distinct known_end.cui
from known_end
semi join asked_end on known_end.cui = asked_end.cui
where known_end.slot = 'tail' and list_contains(getvariable('taxonomic'), known_end.predicate);

create or replace temp table end_area as
select area.*
from area
semi join asked_end on area.cui = asked_end.cui;

-- areas that lie above a class
create or replace temp table area_above as
select * from end_area
where area_cui != cui;

create or replace temp table use_fact as
select distinct
    near_fact.head_cui as cui,
    near_fact.predicate,
    near_fact.tail_cui as use_cui
from near_fact
inner join kg.predicate as line on near_fact.predicate = line.predicate
where line.asserts_benefit;

create or replace temp table used_near as
with recursive above as (
    select
        cui,
        cui as above_cui
    from use_fact
    union
    select
        above.cui,
        area_step.above_cui
    from above
    inner join area_step on above.above_cui = area_step.cui
)

select distinct
    above.above_cui as cui,
    use_fact.predicate,
    use_fact.use_cui
from use_fact
inner join above on use_fact.cui = above.cui
where above.above_cui in (select asked_end.cui from asked_end);

create or replace temp table tied_use as
with recursive tied as (
    select
        use_cui,
        use_cui as cui
    from use_fact
    union
    select
        edge.head_cui as use_cui,
        edge.tail_cui as cui
    from kg.edge as edge
    where list_contains(getvariable('tying'), edge.predicate) and edge.head_cui in (select use_cui from use_fact)
    union
    select
        edge.tail_cui as use_cui,
        edge.head_cui as cui
    from kg.edge as edge
    where list_contains(getvariable('tying'), edge.predicate) and edge.tail_cui in (select use_cui from use_fact)
),

above as (
    select
        cui,
        cui as above_cui
    from tied
    union
    select
        above.cui,
        area_step.above_cui
    from above
    inner join area_step on above.above_cui = area_step.cui
)

select distinct
    above.above_cui as cui,
    tied.use_cui
from tied
inner join above on tied.cui = above.cui
where above.above_cui in (select asked_end.cui from asked_end);

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

create or replace temp table ground as
with every_ground as (
    select distinct
        'the head has this relation to the same area' as reason,
        near_fact.predicate as scope,
        'head' as side,
        near_fact.head_cui as cui,
        area.area_cui as key
    from near_fact
    inner join area on near_fact.tail_cui = area.cui
    where
        near_fact.predicate in (select argument.predicate from argument)
        and near_fact.head_cui in (select asked_end.cui from asked_end)
    union all
    select
        kind.reason,
        kind.scope,
        kind.side,
        end_area.cui,
        end_area.area_cui as key
    from end_area
    cross join (
        values
        ('the head has this relation to the same area', 'no class', 'tail'),
        ('the tail has this relation to the same class', 'any', 'head'),
        ('the class overlaps with a class of the head', 'class', 'head')
    ) as kind (reason, scope, side)
    union all
    -- of a class it is the class itself
    select
        'the head has this relation to the same area' as reason,
        'class' as scope,
        'tail' as side,
        cui,
        area_cui as key
    from end_area
    where area_cui = cui
    union all
    select distinct
        'the tail has this relation to the same class' as reason,
        near_fact.predicate as scope,
        'tail' as side,
        near_fact.tail_cui as cui,
        area.area_cui as key
    from near_fact
    inner join area on near_fact.head_cui = area.cui
    left join area_above on near_fact.tail_cui = area_above.cui and area.area_cui = area_above.area_cui
    where
        near_fact.predicate in (select argument.predicate from argument)
        and near_fact.tail_cui in (select asked_end.cui from asked_end)
        and not (list_contains(getvariable('taxonomic'), near_fact.predicate) and area_above.cui is not null)
    union all
    -- of a substance its uses, of a disorder the uses that it is tied to: whichever of them is the head
    select
        'a use of the head is tied to the tail' as reason,
        if(either.side = 'head', line.predicate, line.inverse) as scope,
        either.side,
        used_near.cui,
        used_near.use_cui as key
    from used_near
    inner join kg.predicate as line on used_near.predicate = line.predicate
    cross join (values ('head'), ('tail')) as either (side)
    union all
    select
        'a use of the head is tied to the tail' as reason,
        if(either.side = 'tail', line.predicate, line.inverse) as scope,
        either.side,
        tied_use.cui,
        tied_use.use_cui as key
    from tied_use
    cross join (values ('head'), ('tail')) as either (side)
    inner join kg.predicate as line on line.asserts_benefit
    union all
    select
        'a known use of the substance or its group' as reason,
        'benefit' as scope,
        either.side,
        known_user.cui,
        concat(either.side, known_user.use_cui) as key
    from known_user
    cross join (values ('head'), ('tail')) as either (side)
    union all
    select
        'a known use of the substance or its group' as reason,
        'benefit' as scope,
        if(either.side = 'head', 'tail', 'head') as side,
        known_kin.cui,
        concat(either.side, known_kin.use_cui) as key
    from known_kin
    cross join (values ('head'), ('tail')) as either (side)
    union all
    select
        'the class holds something with the same treatment' as reason,
        'class' as scope,
        'head' as side,
        tail_cui as cui,
        head_cui as key
    from near_fact
    where predicate = 'treats'
    union all
    select distinct
        'the class holds something with the same treatment' as reason,
        'class' as scope,
        'tail' as side,
        area.area_cui as cui,
        near_fact.head_cui as key
    from near_fact
    inner join area on near_fact.tail_cui = area.cui
    where near_fact.predicate = 'treats' and area.area_cui in (select asked_class.cui from asked_class)
    union all
    select distinct
        'the class overlaps with a class of the head' as reason,
        'class' as scope,
        'tail' as side,
        other.area_cui as cui,
        own.area_cui as key
    from area as own
    inner join area as other on own.cui = other.cui
    anti join area_above on other.area_cui = area_above.cui and own.area_cui = area_above.area_cui
    where other.area_cui in (select asked_class.cui from asked_class)
    union all
    select
        'the class is too general' as reason,
        'class' as scope,
        'head' as side,
        cui,
        '' as key
    from asked_end
    union all
    select
        'the class is too general' as reason,
        'class' as scope,
        'tail' as side,
        cui,
        '' as key
    from too_general
    union all
    select
        'the names share a word' as reason,
        'any' as scope,
        either.side,
        word.cui,
        word.word as key
    from word
    cross join (values ('head'), ('tail')) as either (side)
),

-- what one side has alone says nothing
numbered as (
    select
        reason,
        key,
        row_number() over (order by reason, key) - 1 as number
    from every_ground
    group by reason, key
    having count(distinct side) = 2
)

select
    every_ground.reason,
    every_ground.scope,
    every_ground.side,
    asked_end.code,
    numbered.number as key
from every_ground
inner join asked_end on every_ground.cui = asked_end.cui
inner join numbered on every_ground.reason = numbered.reason and every_ground.key = numbered.key
where every_ground.scope in (select scope.scope from scope);
