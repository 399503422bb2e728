-- Weights of the next round: concepts that stand in supported statements more often than in unsupported ones gain in
-- Q2 and Q4, the others in Q3, so that a concept's name tells nothing of support
-- Grain: one row per quadrant and concept
-- Output: weight(quadrant, cui, weight)
-- Inputs: choice, fact_group, weight. Source: DESIGN section 6 (frequencies are balanced across quadrants)
create or replace temp table weight as
with used as (
    select
        fact_group.original_cui as cui,
        1 as supported,
        0 as unsupported
    from fact_group
    where fact_group.group_id in (select group_id from choice)
    union all
    select
        candidate_cui as cui,
        (quadrant = 'Q3')::int as supported,
        (quadrant != 'Q3')::int as unsupported
    from choice
),

ratio as (
    select
        cui,
        (sum(supported) + 0.25) / (sum(unsupported) + 0.25) as supported_per_unsupported
    from used
    group by cui
)

select
    quadrant.quadrant,
    ratio.cui,
    greatest(
        getvariable('weight_floor'),
        coalesce(weight.weight, getvariable('weight_floor'))
        * pow(ratio.supported_per_unsupported, if(quadrant.quadrant = 'Q3', -0.5, 0.5))
    ) as weight
from ratio
cross join (values ('Q2'), ('Q3'), ('Q4')) as quadrant (quadrant)
left join weight on quadrant.quadrant = weight.quadrant and ratio.cui = weight.cui;
