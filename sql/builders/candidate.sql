-- Candidates that passed every check, with the draw of the stable hash that the choice uses
-- Grain: one row per group, quadrant and candidate
-- Output: candidate(group_id, hadm_id, quadrant, predicate, head_cui, tail_cui, candidate_cui, pattern, tier, hops,
--   original_cui, draw)
-- Inputs: relative, relative_fact, false_candidate, false_check, stated_link, fact_group, far(original_cui,
--   candidate_cui)
-- Q2: true relatives; Q3: false recombinations that this note does not link; Q4: false and semantically distant ones
create or replace temp table candidate as
with passed as (
    select
        relative.group_id,
        relative.hadm_id,
        'Q2' as quadrant,
        relative.predicate,
        relative.head_cui,
        relative.tail_cui,
        relative.candidate_cui,
        fact.pattern,
        fact.tier,
        fact.hops
    from relative
    inner join relative_fact as fact
        on
            relative.head_cui = fact.head_cui and relative.predicate = fact.predicate
            and relative.tail_cui = fact.tail_cui
    union all
    select
        false_candidate.group_id,
        false_candidate.hadm_id,
        false_candidate.quadrant,
        false_candidate.predicate,
        false_candidate.head_cui,
        false_candidate.tail_cui,
        false_candidate.candidate_cui,
        null as pattern,
        null as tier,
        1 as hops
    from false_candidate
    inner join false_check
        on
            false_candidate.predicate = false_check.predicate
            and false_candidate.head_cui = false_check.head_cui
            and false_candidate.tail_cui = false_check.tail_cui
    left join far
        on
            false_candidate.original_cui = far.original_cui
            and false_candidate.candidate_cui = far.candidate_cui
    where
        false_check.reason is null
        and (false_candidate.quadrant = 'Q3' or far.original_cui is not null)
        and not exists (
            select 1 from stated_link
            where
                stated_link.hadm_id = false_candidate.hadm_id
                and stated_link.cui = false_candidate.head_cui and stated_link.other = false_candidate.tail_cui
        )
)

select
    passed.*,
    fact_group.original_cui,
    -ln(unit(concat_ws(chr(31), 'candidate', passed.group_id, passed.quadrant, passed.candidate_cui))) as draw
from passed
inner join fact_group on passed.group_id = fact_group.group_id;
