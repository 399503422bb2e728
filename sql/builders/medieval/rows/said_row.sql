-- What the rows of the dataset hold of their statements
-- Grain: one row per statement. Output: said_row(said, the columns of MedievalRow that its statement decides)
-- Inputs: said, sentence, pattern_path, broader_path, base_distance
-- Joins: a condition on one side of a left join alone would make DuckDB compare all rows with all others
-- why_false: one value for each of Q3 and Q4, by the quadrant alone. What may be called false at all is decided before,
--   for both alike, in builders/medieval/judging.py
create or replace temp table said_row as
select
    said.said,
    sentence.answer as statement,
    said.quadrant in ('Q1', 'Q2') as is_true,
    said.quadrant in ('Q1', 'Q3') as is_supported,
    said.predicate,
    said.head_cui,
    said.head_name,
    said.tail_cui,
    said.tail_name,
    said.hops + (said.broader_name is not null)::integer as hops,
    said.tier,
    list_concat(coalesce(pattern_path.answer, []), coalesce(broader_path.answer, [])) as path,
    if(said.quadrant = 'Q1', 'none', said.slot) as replaced_end,
    if(said.quadrant = 'Q1', null, said.original_cui) as replaced_cui,
    base_distance.answer as distance,
    case said.quadrant
        when 'Q3' then 'recombined_no_path_within_3_hops'
        when 'Q4' then 'distant_no_path_within_3_hops'
    end as why_false
from said
inner join sentence
    on
        said.predicate = sentence.predicate and said.head_name = sentence.head_name
        and said.tail_name = sentence.tail_name and said.slot = sentence.slot
        and said.broader_name is not distinct from sentence.broader_name
left join pattern_path
    on
        said.head_cui = pattern_path.head_cui and said.tail_cui = pattern_path.tail_cui
        and said.pattern = pattern_path.pattern
left join broader_path
    on
        if(said.pattern is null, null, said.kept_cui) = broader_path.kept_cui
        and said.broader_cui = broader_path.broader_cui
        and said.broader_predicate = broader_path.broader_predicate
left join base_distance
    on
        said.original_base = base_distance.original_base and said.candidate_base = base_distance.candidate_base
order by said.said;
