-- What the rows of the dataset hold of their statements
-- Grain: one row per statement.
-- Output: proposition_row(proposition, the columns of MedievalRow that its statement decides)
-- Inputs: proposition, sentence, pattern_path, broader_path, base_distance
-- Joins: a condition on one side of a left join alone would make DuckDB compare all rows with all others
-- why_false: one value for each of Q3 and Q4, by the quadrant alone. What may be called false at all is decided before,
--   for both alike, in builders/medieval/judging.py
create or replace temp table proposition_row as
select
    proposition.proposition,
    sentence.answer as statement,
    proposition.quadrant in ('Q1', 'Q2') as is_true,
    proposition.quadrant in ('Q1', 'Q3') as is_supported,
    proposition.predicate,
    proposition.head_cui,
    proposition.head_name,
    proposition.tail_cui,
    proposition.tail_name,
    proposition.hops + (proposition.broader_name is not null)::integer as hops,
    proposition.tier,
    list_concat(coalesce(pattern_path.answer, []), coalesce(broader_path.answer, [])) as path,
    if(proposition.quadrant = 'Q1', 'none', proposition.slot) as replaced_end,
    if(proposition.quadrant = 'Q1', null, proposition.original_cui) as replaced_cui,
    base_distance.answer as distance,
    case proposition.quadrant
        when 'Q3' then 'recombined_no_path_within_3_hops'
        when 'Q4' then 'distant_no_path_within_3_hops'
    end as why_false
from proposition
inner join sentence
    on
        proposition.predicate = sentence.predicate and proposition.head_name = sentence.head_name
        and proposition.tail_name = sentence.tail_name and proposition.slot = sentence.slot
        and proposition.broader_name is not distinct from sentence.broader_name
left join pattern_path
    on
        proposition.head_cui = pattern_path.head_cui and proposition.tail_cui = pattern_path.tail_cui
        and proposition.pattern = pattern_path.pattern
left join broader_path
    on
        if(proposition.pattern is null, null, proposition.kept_cui) = broader_path.kept_cui
        and proposition.broader_cui = broader_path.broader_cui
        and proposition.broader_predicate = broader_path.broader_predicate
left join base_distance
    on
        proposition.original_base = base_distance.original_base
        and proposition.candidate_base = base_distance.candidate_base
order by proposition.proposition;
