-- One more round of drawing: the statement of each group and quadrant that has none yet
-- Grain: one row per group and quadrant
-- Output: choice(group_id, quadrant, candidate_cui, statement_key), added to
-- Inputs: fact_group, candidate, weight(quadrant, cui, weight). Parameters: quadrants
-- A race of exponential draws: the chance of a candidate is in proportion to its weight. Where two groups of an
--   admission draw the same pair of ends the lower hash keeps it, and the other draws again in the next round
insert into choice
with open_candidate as (
    select
        candidate.*,
        concat_ws(
            ' ', candidate.hadm_id, least(candidate.head_cui, candidate.tail_cui),
            greatest(candidate.head_cui, candidate.tail_cui)
        ) as statement_key
    from candidate
    inner join fact_group on candidate.group_id = fact_group.group_id
    where
        list_contains(getvariable('quadrants'), candidate.quadrant)
        and not exists (
            select 1 from choice
            where choice.group_id = candidate.group_id and choice.quadrant = candidate.quadrant
        )
),

free_candidate as (
    select open_candidate.*
    from open_candidate
    where open_candidate.statement_key not in (select choice.statement_key from choice)
),

drawn as (
    select
        free_candidate.group_id,
        free_candidate.quadrant,
        arg_min(
            free_candidate.candidate_cui,
            (free_candidate.draw / coalesce(weight.weight, getvariable('weight_floor')), free_candidate.candidate_cui)
        ) as candidate_cui,
        arg_min(
            free_candidate.statement_key,
            (free_candidate.draw / coalesce(weight.weight, getvariable('weight_floor')), free_candidate.candidate_cui)
        ) as statement_key
    from free_candidate
    left join weight on free_candidate.quadrant = weight.quadrant and free_candidate.candidate_cui = weight.cui
    group by free_candidate.group_id, free_candidate.quadrant
)

select * from drawn
qualify row_number() over (partition by statement_key order by unit(group_id), group_id) = 1;
