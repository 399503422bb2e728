-- Frames: a fact that some admission has, and the end of it that the other statements of a group replace
-- Grain: frame, one row per fact and replaced end; kept_end, one row per argument and kept end; argument, one row per
--   predicate and slot; argument_concept, one row per argument and concept that facts have there; sibling, one row
--   per replaced concept and close relative
-- Output: frame(frame, fact, predicate, slot, argument, pair, original_cui, kept_cui), kept_end(pair, predicate, slot,
--   kept_cui), argument(argument, predicate, slot, buckets), argument_concept(argument, cui, bucket),
--   sibling(cui, sibling, of_grandparent: a child of a grandparent, and of no parent)
-- Inputs: admission_fact, usable_fact, kg.edge, kg.concept, linked_base. Parameters: seed, bucket_size, family_size
-- argument: a predicate and which end of it is replaced. pair: number of a distinct (argument, kept end), which decides
--   whether a replacement gives a true or a false statement. A group is a frame in an admission. Close relatives are
--   the other children of a parent or a grandparent, of a common semantic group. The parents of a brand or salt are
--   those of its substance; what has very many children says nothing about closeness.
--   Source: docs/definitions.md#close-relative
create or replace temp table frame as
with used as (
    select
        fact.fact,
        fact.predicate,
        argument.slot,
        if(argument.slot = 'head', fact.head_cui, fact.tail_cui) as original_cui,
        if(argument.slot = 'head', fact.tail_cui, fact.head_cui) as kept_cui
    from usable_fact as fact
    cross join (values ('head'), ('tail')) as argument (slot)
    where fact.fact in (select admission_fact.fact from admission_fact)
)

select
    row_number() over (order by fact, slot) - 1 as frame,
    fact,
    predicate,
    slot,
    dense_rank() over (order by predicate, slot) - 1 as argument,
    dense_rank() over (order by predicate, slot, kept_cui) - 1 as pair,
    original_cui,
    kept_cui
from used;

create or replace temp table kept_end as
select distinct
    pair,
    predicate,
    slot,
    kept_cui
from frame;

create or replace temp table argument as
select
    argument,
    predicate,
    slot,
    greatest(1, count(distinct original_cui) // getvariable('bucket_size')) as buckets
from frame
group by argument, predicate, slot;

create or replace temp table argument_concept as
select distinct
    frame.argument,
    frame.original_cui as cui,
    (
        md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'bucket', frame.original_cui))
        % argument.buckets::ubigint
    )::integer as bucket
from frame
inner join argument on frame.argument = argument.argument;

create or replace temp table sibling as
with parent as (
    select distinct
        head_cui as cui,
        tail_cui as above_cui
    from kg.edge
    where predicate in ('is_a', 'has_pharmacologic_class')
),

family as (
    select above_cui
    from parent
    group by above_cui
    having count(*) between 2 and getvariable('family_size')
),

own as (
    select
        original.original_cui as cui,
        coalesce(base.base_cui, original.original_cui) as base_cui
    from (select distinct frame.original_cui from frame) as original
    left join linked_base as base on original.original_cui = base.cui
),

above as (
    select
        own.*,
        parent.above_cui,
        false as of_grandparent
    from own
    inner join parent on own.base_cui = parent.cui
    union
    select
        own.*,
        grandparent.above_cui,
        true as of_grandparent
    from own
    inner join parent on own.base_cui = parent.cui
    inner join parent as grandparent on parent.above_cui = grandparent.cui
)

select
    above.cui,
    other.cui as sibling,
    bool_and(above.of_grandparent) as of_grandparent
from above
semi join family on above.above_cui = family.above_cui
inner join parent as other on above.above_cui = other.above_cui
inner join kg.concept as own_concept on above.cui = own_concept.cui
inner join kg.concept as other_concept on other.cui = other_concept.cui
where other.cui not in (above.cui, above.base_cui) and list_has_any(own_concept.groups, other_concept.groups)
group by above.cui, other.cui;
