-- Rows of MRREL that a line covers but that make no edge
-- Grain: one row per (reason, predicate)
-- Inputs: refused_row (kg/build.py), kg.predicate_code
-- Output: kg.edge_refused(reason, predicate, n). Source: docs/definitions.md#drop
create or replace table kg.edge_refused as
select
    [
        'self_loop', 'suppressed', 'unknown_concept', 'head_group', 'tail_group', 'other_group', 'not_a_class'
    ][counted.refused] as reason,
    code.predicate,
    counted.n
from refused_row as counted
inner join kg.predicate_code as code on counted.code = code.code
order by reason, code.predicate;
