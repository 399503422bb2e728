-- Each supported statement that has a concept where its group replaces an end, with one draw of mean 1
-- Grain: one row per group and supported statement
-- Output: supported_use(code, radius, turn). Inputs: fact_group, nameable, choice_code(group_no, code) of Q3
-- A concept's supported uses in one admission count with one draw of mean 1 and not with exactly 1 (see
--   builders/medieval/balance.py). Source: docs/definitions.md#balance
create or replace temp table supported_use as
with used as (
    select
        fact_group.hadm_id,
        fact_group.original_cui as cui
    from fact_group
    union all
    select
        fact_group.hadm_id,
        nameable.cui
    from choice_code
    inner join fact_group on choice_code.group_no = fact_group.group_no
    inner join nameable on choice_code.code = nameable.code
)

select
    nameable.code,
    ln(unit(concat_ws(chr(31), 'radius', used.hadm_id, used.cui))) as radius,
    pow(cos(2 * pi() * unit(concat_ws(chr(31), 'angle', used.hadm_id, used.cui))), 2) as turn
from used
inner join nameable on used.cui = nameable.cui;
