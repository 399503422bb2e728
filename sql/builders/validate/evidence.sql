-- Evidence of a dataset's rows that does not bear out their labels
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per disagreement
-- Output: (check_name, id, found, expected)
-- Inputs: labelled (rows of the part), attesting, part_mention, kg.predicate
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
        labelled.given,
        unnest(labelled.support_spans) as span
    from labelled
),

-- many rows show the same span: each is looked at once
shown as (
    select distinct
        hadm_id,
        span.cui as cui,
        span.begin_offset as begin_offset,
        span.end_offset as end_offset
    from spanned
),

meant_span as (
    select
        shown.*,
        unnest(mention.cuis) as mentioned
    from shown
    inner join part_mention as mention
        on
            shown.hadm_id = mention.hadm_id and shown.begin_offset = mention.begin_offset
            and shown.end_offset = mention.end_offset
),

attested_span as (
    select meant_span.*
    from meant_span
    semi join attesting on meant_span.cui = attesting.cui and meant_span.mentioned = attesting.mentioned
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
where
    spanned.span.cui != if(spanned.span.role = 'head', spanned.head_cui, spanned.tail_cui)
    or not exists (
        select 1 from attested_span
        where
            attested_span.hadm_id = spanned.hadm_id and attested_span.cui = spanned.span.cui
            and attested_span.begin_offset = spanned.span.begin_offset
            and attested_span.end_offset = spanned.span.end_offset
    )
union all
select
    'given names the ends that rest on a drug that was given' as check_name,
    spanned.id,
    first(spanned.given) as found,
    coalesce(string_agg(spanned.span.role, ' ' order by spanned.span.role) filter (
        where mention.assertion = 'given'
    ), 'none') as expected
from spanned
inner join part_mention as mention
    on
        spanned.hadm_id = mention.hadm_id and spanned.span.begin_offset = mention.begin_offset
        and spanned.span.end_offset = mention.end_offset
group by spanned.id
having replace(first(spanned.given), 'both', 'head tail') != expected
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
    string_agg(quadrant, ' ' order by quadrant) as found,
    'Q1 Q2 Q3 Q4' as expected
from labelled
group by group_id
having
    string_agg(quadrant, ' ' order by quadrant) != 'Q1 Q2 Q3 Q4'
    or count(distinct hadm_id) != 1
    or count(distinct predicate) != 1
    or count(distinct replaced_end) filter (where quadrant != 'Q1') != 1
    or count(distinct replaced_cui) filter (where quadrant != 'Q1') != 1
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
