-- Tables of medical knowledge by name, brought to the concepts of the release
-- Grain: disputed, one row per (head, predicate, tail); known_use, one per ordered pair
-- Output: disputed(head_cui, predicate, tail_cui), known_use(cui, other)
-- Inputs: disputed_fact_name(head, predicate, tail), known_use_name(use_group, use) and
--   known_use_group_name(substance, use_group) from builders/data, kg.name, kg.edge, kg.predicate, linked_base,
--   fact_end
-- disputed: facts of sources that a reader found wrong: not used for truth. known_use: everything that a substance
--   is used for, in both orders, for every form of the substance, and for kinds and general forms of the condition: not
--   called false. Neither makes anything true
create or replace temp table disputed as
with named as (
    select distinct
        head.cui as head_cui,
        disputed_fact_name.predicate,
        tail.cui as tail_cui
    from disputed_fact_name
    inner join kg.name as head on normal_name(disputed_fact_name.head) = head.normalized
    inner join kg.name as tail on normal_name(disputed_fact_name.tail) = tail.normalized
),

with_forms as (
    select * from named
    union
    select
        form.cui as head_cui,
        named.predicate,
        named.tail_cui
    from named
    inner join linked_base as base on named.head_cui = base.cui
    inner join linked_base as form on base.base_cui = form.base_cui
)

select * from with_forms
union
select
    with_forms.tail_cui as head_cui,
    line.inverse as predicate,
    with_forms.head_cui as tail_cui
from with_forms
inner join kg.predicate as line on with_forms.predicate = line.predicate;

create or replace temp table known_use as
with recursive named as (
    select distinct
        substance.cui as cui,
        use.cui as other
    from known_use_group_name
    inner join known_use_name on known_use_group_name.use_group = known_use_name.use_group
    inner join kg.name as substance on normal_name(known_use_group_name.substance) = substance.normalized
    inner join kg.name as use on normal_name(known_use_name.use) = use.normalized
),

below as (
    select
        named.other as start,
        named.other as reached
    from named
    union
    select
        below.start,
        edge.head_cui as reached
    from below
    inner join kg.edge as edge on below.reached = edge.tail_cui
    where edge.predicate = 'is_a'
),

above as (
    select
        named.other as start,
        named.other as reached
    from named
    union
    select
        above.start,
        edge.tail_cui as reached
    from above
    inner join kg.edge as edge on above.reached = edge.head_cui
    where edge.predicate = 'is_a'
),

kin as (
    select * from below
    union
    select * from above
),

used as (
    select distinct
        coalesce(form.cui, named.cui) as cui,
        kin.reached as other
    from named
    inner join kin on named.other = kin.start
    left join linked_base as base on named.cui = base.cui
    left join linked_base as form on base.base_cui = form.base_cui
    where kin.reached in (select fact_end.cui from fact_end)
)

select
    cui,
    other
from used
where used.cui in (select fact_end.cui from fact_end) and used.other in (select fact_end.cui from fact_end)
union
select
    other as cui,
    cui as other
from used
where used.cui in (select fact_end.cui from fact_end) and used.other in (select fact_end.cui from fact_end);
