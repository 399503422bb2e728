-- Rows of MRREL that a line covers but that make no edge
-- Grain: one row per (reason, predicate)
-- Inputs: edge_row, drug, kg.predicate_code
-- Output: kg.edge_refused(reason, predicate, n). not_a_class: a parent that is no pharmacologic class but a substance
--   that products hold, as the base above its salt (seen in USPMG). Source: docs/definitions.md#drop
create or replace table kg.edge_refused as
with judged as (
    select
        code.predicate,
        coalesce(row.refused, if(code.predicate = 'has_pharmacologic_class' and tail.is_part, 7, null)) as refused
    from edge_row as row
    inner join kg.predicate_code as code on row.predicate = code.code
    left join drug as tail on row.tail = tail.node
)

select
    [
        'self_loop', 'suppressed', 'unknown_concept', 'head_group', 'tail_group', 'other_group', 'not_a_class'
    ][refused] as reason,
    predicate,
    count(*) as n
from judged
where refused is not null
group by all
order by reason, predicate;
