-- Facts of one edge, for all forms of a drug, and the concepts that each predicate is known for
-- Grain: near_fact, a view, and near_code, one row per (head, predicate, tail); known_end, one per predicate, slot and
--   concept
-- Output: near_fact(head_cui, predicate, tail_cui), near_code(head, said, tail) the same in numbers,
--   said_predicate(predicate, said, steps: what the edge says), known_end(predicate, slot, cui)
-- Inputs: kg.edge_code, kg.node, kg.predicate_code, kg.predicate, kg.pattern, linked_base, twin
-- What a pattern of one stated edge says. Local closed world: at least `known_edges` edges, or as many
--   as a concept has on average where that is less. Source: docs/definitions.md#known
-- The release is read as a whole: in the numbers of the graph, and of the predicates that are said
create or replace temp table said_predicate as
select
    predicate,
    row_number() over (order by predicate)::utinyint as said,
    list(steps[1]) as steps
from kg.pattern
where tier = 'stated' and extends = '' and len(steps) = 1
group by predicate;

create or replace temp table near_code as
with edge as (
    select distinct
        head,
        predicate,
        tail
    from kg.edge_code
),

-- what an edge says, read from its head by its predicate or from its tail by the inverse
reading as (
    select
        code.code,
        true as from_head,
        said_predicate.said
    from kg.predicate_code as code
    inner join said_predicate on list_contains(said_predicate.steps, code.predicate)
    union all
    select
        code.code,
        false as from_head,
        said_predicate.said
    from kg.predicate_code as code
    inner join kg.predicate as line on code.predicate = line.predicate
    inner join said_predicate on list_contains(said_predicate.steps, line.inverse)
),

directed as (
    select
        if(reading.from_head, edge.head, edge.tail) as head,
        reading.said,
        if(reading.from_head, edge.tail, edge.head) as tail
    from edge
    inner join reading on edge.predicate = reading.code
),

form as (
    select
        form.node,
        base.node as base
    from linked_base
    inner join kg.node as form on linked_base.cui = form.cui
    inner join kg.node as base on linked_base.base_cui = base.cui
),

with_forms as (
    select * from directed
    union all
    select
        form.node as head,
        directed.said,
        directed.tail
    from directed
    inner join form on directed.head = form.base
    union all
    select
        directed.head,
        directed.said,
        form.node as tail
    from directed
    inner join form on directed.tail = form.base
),

-- each concept is its own twin: few have another one
other_twin as (
    select
        own.node,
        other.node as other
    from twin
    inner join kg.node as own on twin.cui = own.cui
    inner join kg.node as other on twin.other = other.cui
    where twin.cui != twin.other
),

with_heads as (
    select * from with_forms
    union all
    select
        other_twin.other as head,
        with_forms.said,
        with_forms.tail
    from with_forms
    inner join other_twin on with_forms.head = other_twin.node
)

-- what came several times is told apart once, at the end
select
    head,
    said,
    tail
from with_heads
union
select
    with_heads.head,
    with_heads.said,
    other_twin.other as tail
from with_heads
inner join other_twin on with_heads.tail = other_twin.node;

create or replace temp view near_fact as
select
    head.cui as head_cui,
    said_predicate.predicate,
    tail.cui as tail_cui
from near_code
inner join kg.node as head on near_code.head = head.node
inner join kg.node as tail on near_code.tail = tail.node
inner join said_predicate on near_code.said = said_predicate.said;

create or replace temp table known_end as
with counted as (
    select
        said,
        'head' as slot,
        head as node,
        count(*) as n
    from near_code
    group by said, head
    union all
    select
        said,
        'tail' as slot,
        tail as node,
        count(*) as n
    from near_code
    group by said, tail
),

usual as (
    select
        said,
        slot,
        greatest(1, floor(avg(n))) as n
    from counted
    group by said, slot
)

select
    said_predicate.predicate,
    counted.slot,
    node.cui
from counted
inner join usual on counted.said = usual.said and counted.slot = usual.slot
inner join kg.node as node on counted.node = node.node
inner join said_predicate on counted.said = said_predicate.said
where counted.n >= least(usual.n, getvariable('known_edges'));
