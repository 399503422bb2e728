-- The rows of the dataset, of some patients
-- Grain: one row per group and quadrant, in the order of patient, group and quadrant. Output: MedievalRow
--   without its context
-- Inputs: fact_split, support_span, sentence, pattern_path, broader_path, base_distance
-- Parameters: first_patient, last_patient
-- why_false: the same checks hold for Q3 and Q4 (sql/builders/why_not_false.sql)
with part as (
    select * from fact_split
    where subject_id between getvariable('first_patient') and getvariable('last_patient')
),

spanned as (
    select
        support_span.group_id,
        support_span.quadrant,
        list(
            {
                'role': support_span.role, 'cui': support_span.cui, 'begin_offset': support_span.begin_offset,
                'end_offset': support_span.end_offset, 'text': support_span.text, 'section': support_span.section
            }
            order by support_span.role
        ) as spans,
        bool_and(support_span.linked) as linked
    from support_span
    where support_span.subject_id between getvariable('first_patient') and getvariable('last_patient')
    group by support_span.group_id, support_span.quadrant
)

select
    concat(part.group_id, '-', part.quadrant) as id,
    part.group_id,
    part.subject_id,
    part.hadm_id,
    sentence.answer as statement,
    part.quadrant,
    part.quadrant in ('Q1', 'Q2') as is_true,
    part.quadrant in ('Q1', 'Q3') as is_supported,
    part.predicate,
    part.head_cui,
    part.head_name,
    part.tail_cui,
    part.tail_name,
    part.hops + (part.broader_cui is not null)::integer as hops,
    part.tier,
    case
        when part.quadrant in ('Q2', 'Q4') then 'none'
        when coalesce(spanned.linked, true) then 'stated'
        else 'co_mentioned'
    end as support_level,
    list_concat(coalesce(pattern_path.answer, []), coalesce(broader_path.answer, [])) as path,
    coalesce(spanned.spans, []) as support_spans,
    if(part.quadrant = 'Q1', 'none', part.slot) as replaced_end,
    if(part.quadrant = 'Q1', null, part.original_cui) as replaced_cui,
    base_distance.answer as distance,
    case part.quadrant
        when 'Q3' then 'recombined_no_path_within_3_hops'
        when 'Q4' then 'distant_no_path_within_3_hops'
    end as why_false,
    part.split,
    part.fact_split
from part
inner join sentence
    on
        part.predicate = sentence.predicate and part.head_name = sentence.head_name
        and part.tail_name = sentence.tail_name and part.slot = sentence.slot
        and part.broader_name is not distinct from sentence.broader_name
left join spanned on part.group_id = spanned.group_id and part.quadrant = spanned.quadrant
left join pattern_path
    on
        part.head_cui = pattern_path.head_cui and part.tail_cui = pattern_path.tail_cui
        and part.pattern = pattern_path.pattern
left join broader_path
    on
        part.pattern is not null
        and part.kept_cui = broader_path.kept_cui and part.broader_cui = broader_path.broader_cui
        and part.broader_predicate = broader_path.broader_predicate
left join base_distance
    on
        part.candidate_cui is not null
        and part.original_base = base_distance.original_base and part.candidate_base = base_distance.candidate_base
order by part.subject_id, part.group_id, part.quadrant
