-- Rows whose own columns do not go together
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per disagreement. Output: (check_name, id, found, expected)
-- Inputs: labelled, kg.predicate. Parameter: min_distractor_distance. Source: docs/definitions.md#evidence
with linked as (
    select
        id,
        list_filter(
            range(1, len(path) + 1),
            lambda place:
            (place = 1 and path[place].head_cui != head_cui)
            -- the last edge may describe an end: "..., which is a type of ..."
            or (
                place > 1 and path[place].head_cui != path[place - 1].tail_cui
                and not (
                    place = len(path) and path[place - 1].tail_cui = tail_cui and path[place].head_cui = head_cui
                )
            )
            or (
                place = len(path) and path[place].tail_cui != tail_cui
                and coalesce(path[place - 1].tail_cui, '') != tail_cui
            )
        ) as gaps
    from labelled
),

spanned as (
    select
        id,
        replaced_end,
        is_supported,
        array_to_string(list_sort([span.role for span in support_spans]), ' ') as roles,
        case when is_supported then 'head tail' when replaced_end = 'head' then 'tail' else 'head' end as expected
    from labelled
)

select
    'a quadrant is what its two labels say' as check_name,
    id,
    quadrant as found,
    case when is_true then if(is_supported, 'Q1', 'Q2') else if(is_supported, 'Q3', 'Q4') end as expected
from labelled
where
    quadrant is distinct from
    case when is_true then if(is_supported, 'Q1', 'Q2') else if(is_supported, 'Q3', 'Q4') end
union all
select
    'support_level, tier and why_false go with the labels' as check_name,
    id,
    concat_ws(' ', support_level, tier, why_false) as found,
    concat_ws(' ', if(is_supported, 'a level', 'silent'), if(is_true, 'a tier', 'a reason')) as expected
from labelled
where
    (support_level = 'silent') = is_supported
    or (tier is null) = is_true
    or (why_false is null) != is_true
union all
select
    'an end is replaced by another concept, but in the first statement of a group' as check_name,
    id,
    concat_ws(' ', replaced_end, replaced_cui) as found,
    if(is_true and is_supported, 'none', 'another concept') as expected
from labelled
where
    (is_true and is_supported) != (replaced_end = 'none')
    or (replaced_end = 'head' and replaced_cui is not distinct from head_cui)
    or (replaced_end = 'tail' and replaced_cui is not distinct from tail_cui)
union all
select
    'hops counts the edges of the path' as check_name,
    id,
    len(path)::varchar as found,
    hops::varchar as expected
from labelled
where if(is_true, len(path) != hops or hops = 0, len(path) != 0)
union all
select
    'a path leads from head to tail' as check_name,
    id,
    concat('a gap before edge ', unnest(gaps)) as found,
    'edges that meet' as expected
from linked
union all
select
    'a statement has a span for each end that it is supported by' as check_name,
    id,
    roles as found,
    expected
from spanned
where roles != expected
union all
select
    'a statement names both ends' as check_name,
    id,
    'another sentence' as found,
    concat_ws(' ', head_cui, predicate, tail_cui) as expected
from labelled
where
    not contains(lower(statement), lower(head_name))
    or not contains(lower(statement), lower(tail_name))
    or not exists (
        select 1 from kg.predicate as line
        where labelled.predicate in (line.predicate, line.inverse)
    )
union all
select
    'a distractor is as far away as the settings ask' as check_name,
    id,
    distance::varchar as found,
    getvariable('min_distractor_distance')::varchar as expected
from labelled
where quadrant = 'Q4' and distance < getvariable('min_distractor_distance');
