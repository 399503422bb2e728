-- Pairs of the dataset in both orders, in lots of heads: only a lot's walks are in memory at once
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per ordered pair
-- Output: paired(head, tail, lot), and found_path without rows. Input: said(head_cui, tail_cui, ...)
-- Parameter: heads_at_once
create or replace temp table paired as
with pair as (
    select
        head_cui as head,
        tail_cui as tail
    from said
    union
    select
        tail_cui as head,
        head_cui as tail
    from said
)

select
    *,
    (dense_rank() over (order by head) - 1) // getvariable('heads_at_once') as lot
from pair;

create or replace temp table found_path (
    head_cui varchar,
    tail_cui varchar,
    predicate varchar,
    pattern varchar,
    tier varchar,
    hops bigint
);
