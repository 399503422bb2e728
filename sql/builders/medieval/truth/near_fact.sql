-- Facts of one edge, for all forms of a drug, and the concepts that each predicate is known for
-- Grain: near_fact, one row per (head, predicate, tail); known_end, one per predicate, slot and concept
-- Output: near_fact(head_cui, predicate, tail_cui), known_end(predicate, slot, cui)
-- Inputs: kg.edge, kg.predicate, kg.pattern, linked_base, twin
-- What a pattern of one stated edge says. Local closed world: at least `known_edges` edges, or as many
--   as a concept has on average where that is less. Source: docs/definitions.md#known
create or replace temp table near_fact as
with edge as (
    select distinct
        head_cui,
        predicate,
        tail_cui
    from kg.edge
),

directed as (
    select
        edge.head_cui,
        pattern.predicate,
        edge.tail_cui
    from edge
    inner join kg.pattern as pattern on pattern.steps = [edge.predicate]
    where pattern.tier = 'stated' and pattern.extends = ''
    union all
    select
        edge.tail_cui as head_cui,
        pattern.predicate,
        edge.head_cui as tail_cui
    from edge
    inner join kg.predicate as line on edge.predicate = line.predicate
    inner join kg.pattern as pattern on pattern.steps = [line.inverse]
    where pattern.tier = 'stated' and pattern.extends = ''
),

with_forms as (
    select * from directed
    union all
    select
        form.cui as head_cui,
        directed.predicate,
        directed.tail_cui
    from directed
    inner join linked_base as form on directed.head_cui = form.base_cui
    union all
    select
        directed.head_cui,
        directed.predicate,
        form.cui as tail_cui
    from directed
    inner join linked_base as form on directed.tail_cui = form.base_cui
),

-- each concept is its own twin: few have another one
other_twin as (
    select
        cui,
        other
    from twin
    where cui != other
),

with_heads as (
    select * from with_forms
    union all
    select
        other_twin.other as head_cui,
        with_forms.predicate,
        with_forms.tail_cui
    from with_forms
    inner join other_twin on with_forms.head_cui = other_twin.cui
)

-- what came several times is told apart once, at the end
select
    head_cui,
    predicate,
    tail_cui
from with_heads
union
select
    with_heads.head_cui,
    with_heads.predicate,
    other_twin.other as tail_cui
from with_heads
inner join other_twin on with_heads.tail_cui = other_twin.cui;

create or replace temp table known_end as
with counted as (
    select
        predicate,
        'head' as slot,
        head_cui as cui,
        count(*) as n
    from near_fact
    group by predicate, head_cui
    union all
    select
        predicate,
        'tail' as slot,
        tail_cui as cui,
        count(*) as n
    from near_fact
    group by predicate, tail_cui
),

usual as (
    select
        predicate,
        slot,
        greatest(1, floor(avg(n))) as n
    from counted
    group by predicate, slot
)

select
    counted.predicate,
    counted.slot,
    counted.cui
from counted
inner join usual on counted.predicate = usual.predicate and counted.slot = usual.slot
where counted.n >= least(usual.n, getvariable('known_edges'));
