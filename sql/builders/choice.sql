-- The statement of each group and quadrant, drawn with the current weights; groups that lack a quadrant are left out
-- Grain: one row per group and quadrant Q2, Q3, Q4
-- Output: choice(group_id, quadrant, candidate_cui)
-- Inputs: candidate, weight(quadrant, cui, weight). A race of exponential draws: the chance is in proportion to weight
create or replace temp table choice as
with drawn as (
    select
        candidate.group_id,
        candidate.quadrant,
        arg_min(
            candidate.candidate_cui,
            (candidate.draw / coalesce(weight.weight, getvariable('weight_floor')), candidate.candidate_cui)
        ) as candidate_cui
    from candidate
    left join weight on candidate.quadrant = weight.quadrant and candidate.candidate_cui = weight.cui
    group by candidate.group_id, candidate.quadrant
)

select * from drawn
qualify count(*) over (partition by group_id) = 3;
