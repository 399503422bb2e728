-- Pairs of a replaced end and a distractor that pass every check but distance, with the bases of drugs
-- Grain: one row per pair. Output: (original_cui, candidate_cui, original_base, candidate_base)
-- Inputs: false_candidate, false_check, linked_base
select distinct
    candidate.original_cui,
    candidate.candidate_cui,
    coalesce(original_base.base_cui, candidate.original_cui) as original_base,
    coalesce(candidate_base.base_cui, candidate.candidate_cui) as candidate_base
from false_candidate as candidate
inner join false_check
    on
        candidate.predicate = false_check.predicate and candidate.head_cui = false_check.head_cui
        and candidate.tail_cui = false_check.tail_cui
left join linked_base as original_base on candidate.original_cui = original_base.cui
left join linked_base as candidate_base on candidate.candidate_cui = candidate_base.cui
where candidate.quadrant = 'Q4' and false_check.reason is null
order by all;
