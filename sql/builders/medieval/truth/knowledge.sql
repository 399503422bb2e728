-- Tables of medical knowledge by name, brought to the concepts of the release
-- Grain: disputed, one row per (head, predicate, tail); known_user, one row per substance and use;
--   known_kin, one row per condition and use
-- Output: disputed(head_cui, predicate, tail_cui), known_user(cui, use_cui), known_kin(cui, use_cui)
-- Inputs: disputed_fact_name(head, predicate, tail), known_use_name(use_group, use) and
--   known_use_group_name(substance, use_group) from builders/data, kg.name, kg.edge, kg.predicate, linked_base,
--   fact_end
-- disputed: facts of sources that a reader found wrong: not used for truth. known_user, with every form of a substance,
--   and known_kin, with kinds and general forms of a use: what has a use in common is not called false. Neither makes
--   anything true
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

create or replace temp table known_user as
select distinct
    coalesce(form.cui, substance.cui) as cui,
    use.cui as use_cui
from known_use_group_name
inner join known_use_name on known_use_group_name.use_group = known_use_name.use_group
inner join kg.name as substance on normal_name(known_use_group_name.substance) = substance.normalized
inner join kg.name as use on normal_name(known_use_name.use) = use.normalized
left join linked_base as base on substance.cui = base.cui
left join linked_base as form on base.base_cui = form.base_cui
where coalesce(form.cui, substance.cui) in (select fact_end.cui from fact_end);

create or replace temp table known_kin as
with recursive below as (
    select
        use_cui,
        use_cui as cui
    from known_user
    union
    select
        below.use_cui,
        edge.head_cui as cui
    from below
    inner join kg.edge as edge on below.cui = edge.tail_cui
    where edge.predicate = 'is_a'
),

above as (
    select
        use_cui,
        use_cui as cui
    from known_user
    union
    select
        above.use_cui,
        edge.tail_cui as cui
    from above
    inner join kg.edge as edge on above.cui = edge.head_cui
    where edge.predicate = 'is_a'
),

kin as (
    select * from below
    union
    select * from above
)

select
    cui,
    use_cui
from kin
where cui in (select fact_end.cui from fact_end);
