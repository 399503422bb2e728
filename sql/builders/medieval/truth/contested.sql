-- Kinds that one vocabulary alone states, and another one that knows both does not
-- Grain: one row per ordered pair. Output: contested(head_cui, tail_cui)
-- Inputs: kind_pair(head_cui, tail_cui), kg.edge
-- A vocabulary states a pair if its own is_a leads from head to tail, however far up; it knows both if both stand in
--   its hierarchy. Respiratory failure stands below lung disease in one vocabulary only: others have both, and place
--   it elsewhere. Statistical classifications contest nothing: they put a disorder in one place only.
--   Source: docs/definitions.md#contested
create or replace temp table contested as
with recursive step as (
    select distinct
        head_cui,
        tail_cui,
        sab
    from kg.edge
    where predicate = 'is_a'
),

climb as (
    select
        kind_pair.head_cui as cui,
        kind_pair.head_cui as above_cui,
        step.sab
    from kind_pair
    inner join step on kind_pair.head_cui = step.head_cui
    union
    select
        climb.cui,
        step.tail_cui as above_cui,
        climb.sab
    from climb
    inner join step on climb.above_cui = step.head_cui and climb.sab = step.sab
),

stated as (
    select
        kind_pair.head_cui,
        kind_pair.tail_cui,
        count(*) as n
    from kind_pair
    inner join climb on kind_pair.head_cui = climb.cui and kind_pair.tail_cui = climb.above_cui
    group by kind_pair.head_cui, kind_pair.tail_cui
),

placed as (
    select
        head_cui as cui,
        sab
    from step
    union
    select
        tail_cui as cui,
        sab
    from step
)

select distinct
    kind_pair.head_cui,
    kind_pair.tail_cui
from kind_pair
inner join placed as own on kind_pair.head_cui = own.cui
inner join placed as other on kind_pair.tail_cui = other.cui and own.sab = other.sab
left join stated on kind_pair.head_cui = stated.head_cui and kind_pair.tail_cui = stated.tail_cui
anti join climb
    on kind_pair.head_cui = climb.cui and kind_pair.tail_cui = climb.above_cui and own.sab = climb.sab
where
    coalesce(stated.n, 0) <= 1
    and own.sab not in ('CCS', 'CCSR_ICD10CM', 'ICD9CM', 'ICD10', 'ICD10CM', 'ICD10PCS', 'MTHICD9');
