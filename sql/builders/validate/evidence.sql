-- Evidence of a dataset's rows that does not bear out their labels
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per disagreement
-- Output: (check_name, id, found, expected)
-- Inputs: labelled (rows of the part), shown_span, attested_span, kg.predicate
-- Source: docs/definitions.md#evidence
with step_of as (
    select
        labelled.id,
        labelled.head_cui as first_cui,
        labelled.tail_cui as last_cui,
        len(labelled.path) as n,
        unnest(labelled.path) as edge,
        generate_subscripts(labelled.path, 1) as place
    from labelled
),

linked as (
    select
        *,
        lag(edge.tail_cui) over (partition by id order by place) as before
    from step_of
),

spanned as (
    select
        labelled.id,
        labelled.hadm_id,
        labelled.head_cui,
        labelled.tail_cui,
        unnest(labelled.support_spans) as span
    from labelled
),

given_role as (
    select
        spanned.id,
        if(count(distinct spanned.span.role) = 2, 'both', any_value(spanned.span.role)) as roles
    from spanned
    inner join shown_span
        on
            spanned.hadm_id = shown_span.hadm_id and spanned.span.cui = shown_span.cui
            and spanned.span.begin_offset = shown_span.begin_offset
            and spanned.span.end_offset = shown_span.end_offset and spanned.span.text = shown_span.text
    where shown_span.assertion = 'given'
    group by spanned.id
)

select
    'hops counts the edges of the path' as check_name,
    labelled.id,
    len(labelled.path)::varchar as found,
    labelled.hops::varchar as expected
from labelled
where if(labelled.is_true, len(labelled.path) != labelled.hops or labelled.hops = 0, len(labelled.path) != 0)
union all
select distinct
    'a path leads from head to tail' as check_name,
    linked.id,
    concat('a gap before edge ', linked.place) as found,
    'edges that meet' as expected
from linked
where
    (linked.place = 1 and linked.edge.head_cui != linked.first_cui)
    -- the last edge may describe an end: "..., which is a type of ..."
    or (
        linked.place > 1 and linked.edge.head_cui != linked.before
        and not (
            linked.place = linked.n and linked.before = linked.last_cui
            and linked.edge.head_cui = linked.first_cui
        )
    )
    or (
        linked.place = linked.n and linked.edge.tail_cui != linked.last_cui
        and coalesce(linked.before, '') != linked.last_cui
    )
union all
select
    'a statement has a span for each end that it is supported by' as check_name,
    labelled.id,
    array_to_string(list_sort([span.role for span in labelled.support_spans]), ' ') as found,
    case when labelled.is_supported then 'head tail' when labelled.replaced_end = 'head' then 'tail' else 'head' end
        as expected
from labelled
where
    array_to_string(list_sort([span.role for span in labelled.support_spans]), ' ')
    != case when labelled.is_supported then 'head tail' when labelled.replaced_end = 'head' then 'tail' else 'head' end
union all
select
    'a span attests the end that it stands for' as check_name,
    spanned.id,
    spanned.span.cui as found,
    if(spanned.span.role = 'head', spanned.head_cui, spanned.tail_cui) as expected
from spanned
left join attested_span
    on
        spanned.hadm_id = attested_span.hadm_id and spanned.span.cui = attested_span.cui
        and spanned.span.begin_offset = attested_span.begin_offset
        and spanned.span.end_offset = attested_span.end_offset
where
    attested_span.cui is null
    or spanned.span.cui != if(spanned.span.role = 'head', spanned.head_cui, spanned.tail_cui)
union all
select
    'given names the ends that rest on a drug that was given' as check_name,
    labelled.id,
    labelled.given as found,
    coalesce(given_role.roles, 'none') as expected
from labelled
left join given_role on labelled.id = given_role.id
where labelled.given != coalesce(given_role.roles, 'none')
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
    'a group has one statement of each quadrant, made from its first' as check_name,
    group_id as id,
    array_to_string(list_sort(list(quadrant)), ' ') as found,
    'Q1 Q2 Q3 Q4' as expected
from labelled
group by group_id
having
    found != 'Q1 Q2 Q3 Q4'
    or min(hadm_id) is distinct from max(hadm_id)
    or min(predicate) is distinct from max(predicate)
    or min(replaced_end) filter (where quadrant != 'Q1') is null
    or min(replaced_end) filter (where quadrant != 'Q1') != max(replaced_end) filter (where quadrant != 'Q1')
    or min(replaced_cui) filter (where quadrant != 'Q1') is null
    or min(replaced_cui) filter (where quadrant != 'Q1') != max(replaced_cui) filter (where quadrant != 'Q1')
    or max(replaced_cui) is distinct from if(
        max(replaced_end) filter (where quadrant != 'Q1') = 'head',
        max(head_cui) filter (where quadrant = 'Q1'),
        max(tail_cui) filter (where quadrant = 'Q1')
    )
union all
select
    'a statement stands once in an admission' as check_name,
    min(id) as id,
    count(*)::varchar as found,
    '1' as expected
from labelled
group by hadm_id, statement
having count(*) > 1
union all
select
    'a row is in the fact_split of its patient or in none' as check_name,
    id,
    fact_split as found,
    split as expected
from labelled
where fact_split != split
