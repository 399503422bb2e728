-- How often each concept should stand as the replaced end of unsupported statements, and the weights to begin with
-- Grain: target, one row per concept; weight, one row per quadrant and concept
-- Output: target(cui, expected), weight(quadrant, cui, weight)
-- Inputs: fact_group, choice (Q3 drawn)
-- The supported uses of a concept in one admission count with one draw of mean 1, not with exactly 1 (see
--   builders/medieval/balance.py). Parameter: spread, 0 for exactly 1, 1 for a chi-square draw with one degree of
--   freedom. Source: DESIGN section 6 (frequencies are balanced across quadrants)
create or replace temp table target as
with supported as (
    select
        hadm_id,
        original_cui as cui
    from fact_group
    union all
    select
        fact_group.hadm_id,
        choice.candidate_cui as cui
    from choice
    inner join fact_group on choice.group_id = fact_group.group_id
    where choice.quadrant = 'Q3'
)

select
    cui,
    sum(
        greatest(
            0, 1 - getvariable('spread')
            - getvariable('spread') * 2 * ln(unit(concat_ws(chr(31), 'radius', hadm_id, cui)))
            * pow(cos(2 * pi() * unit(concat_ws(chr(31), 'angle', hadm_id, cui))), 2)
        )
    ) as expected
from supported
group by cui;

create or replace temp table weight as
select
    quadrant.quadrant,
    target.cui,
    greatest(getvariable('weight_floor'), target.expected) as weight
from target
cross join (values ('Q2'), ('Q4')) as quadrant (quadrant);
