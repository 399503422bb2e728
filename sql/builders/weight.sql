-- Weights of the next round: chances that add up, over all groups, to what each concept should have
-- Grain: one row per quadrant and concept
-- Output: weight(quadrant, cui, weight)
-- Inputs: candidate, fact_group, weight, target. Iterative proportional fitting of the expected counts
create or replace temp table weight as
with chance as (
    select
        candidate.quadrant,
        candidate.candidate_cui as cui,
        coalesce(weight.weight, getvariable('weight_floor'))
        / sum(coalesce(weight.weight, getvariable('weight_floor')))
            over (partition by candidate.group_id, candidate.quadrant) as chance
    from candidate
    inner join fact_group on candidate.group_id = fact_group.group_id
    left join weight on candidate.quadrant = weight.quadrant and candidate.candidate_cui = weight.cui
    where candidate.quadrant in ('Q2', 'Q4')
),

expected as (
    select
        cui,
        sum(chance) as expected
    from chance
    group by cui
)

select
    weight.quadrant,
    weight.cui,
    least(
        1e6,
        greatest(
            getvariable('weight_floor'), weight.weight * coalesce(sqrt(target.expected / expected.expected), 1)
        )
    ) as weight
from weight
inner join target on weight.cui = target.cui
left join expected on weight.cui = expected.cui;
