-- The rows of the contradicted configuration that baselines look at: whole circuits, so that they balance too
-- Grain: one row per row. Output: measured_row(id, subject_id, context, statement, is_supported, head_cui, tail_cui)
-- Inputs: shown (the files), contradicted_row. Parameter: measured (rows, about)
create or replace temp table measured_row as
with counted as (
    select
        circuit,
        sum(count(*)) over (order by circuit) - count(*) as before
    from contradicted_row
    group by circuit
),

-- first of all, so that no other context is held
measured as (
    select contradicted_row.id
    from contradicted_row
    inner join counted on contradicted_row.circuit = counted.circuit
    where counted.before < getvariable('measured')
)

select
    shown.id,
    shown.subject_id,
    shown.context,
    shown.statement,
    shown.is_supported,
    shown.head_cui,
    shown.tail_cui
from shown
semi join measured on shown.id = measured.id;
