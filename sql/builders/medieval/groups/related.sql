-- Ordered pairs that any path of any tier relates, in either direction, themselves or their twins
-- Grain: one row per ordered pair. Output: related(head_cui, tail_cui). Inputs: found_relation(head_cui, tail_cui),
--   twin
create or replace temp table related as
with either as (
    select
        head_cui,
        tail_cui
    from found_relation
    union
    select
        tail_cui as head_cui,
        head_cui as tail_cui
    from found_relation
)

select distinct
    head_twin.other as head_cui,
    tail_twin.other as tail_cui
from either
inner join twin as head_twin on either.head_cui = head_twin.cui
inner join twin as tail_twin on either.tail_cui = tail_twin.cui;
