-- What statements say that the graph does not bear out, whoever the patient: each is asked once, not row by row
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per disagreement. Output: (check_name, id, found, expected)
-- Inputs: labelled (all rows), found_path, kg.edge, kg.predicate, kg.name, kg.concept. Parameter: tiers
-- Source: docs/definitions.md#true, #false, #evidence
with said as (
    select distinct
        head_cui,
        predicate,
        tail_cui,
        is_true,
        tier
    from labelled
),

pathless as (
    select * from said
    where
        said.is_true
        and not exists (
            select 1 from found_path
            where
                found_path.head_cui = said.head_cui and found_path.tail_cui = said.tail_cui
                and found_path.predicate = said.predicate and found_path.tier = said.tier
                and list_contains(getvariable('tiers'), found_path.tier)
        )
),

related as (
    select
        pair.head_cui,
        pair.tail_cui,
        found.pattern
    from (
        select distinct
            head_cui,
            tail_cui
        from said
        where not is_true
    ) as pair
    inner join (
        select
            head_cui,
            tail_cui,
            pattern
        from found_path
        union all
        select
            tail_cui as head_cui,
            head_cui as tail_cui,
            pattern
        from found_path
    ) as found on pair.head_cui = found.head_cui and pair.tail_cui = found.tail_cui
),

named as (
    select
        head_cui as cui,
        head_name as name
    from labelled
    union
    select
        tail_cui as cui,
        tail_name as name
    from labelled
),

misnamed as (
    select * from named
    where
        not exists (
            select 1 from kg.name
            where kg.name.cui = named.cui and lower(kg.name.name) = lower(named.name)
        )
        and not exists (
            select 1 from kg.concept
            where kg.concept.cui = named.cui and kg.concept.name = named.name
        )
),

shown as (
    select distinct unnest(path) as edge
    from labelled
),

strange as (
    select shown.edge from shown
    where
        not exists (
            select 1 from kg.edge as stored
            inner join kg.predicate as line on stored.predicate = line.predicate
            where
                coalesce(stored.rui, '') = coalesce(shown.edge.rui, '')
                and coalesce(stored.sab, '') = coalesce(shown.edge.sab, '')
                and coalesce(stored.rela, '') = coalesce(shown.edge.rela, '')
                and (
                    (
                        stored.head_cui = shown.edge.head_cui and stored.tail_cui = shown.edge.tail_cui
                        and shown.edge.predicate = line.predicate
                    )
                    or (
                        stored.tail_cui = shown.edge.head_cui and stored.head_cui = shown.edge.tail_cui
                        and shown.edge.predicate in (line.inverse, if(line.symmetric, line.predicate, line.inverse))
                    )
                )
        )
)

select
    'a true statement has a path of its tier' as check_name,
    labelled.id,
    'none' as found,
    labelled.tier as expected
from labelled
semi join pathless
    on
        labelled.head_cui = pathless.head_cui and labelled.tail_cui = pathless.tail_cui
        and labelled.predicate = pathless.predicate and labelled.is_true = pathless.is_true
        and labelled.tier is not distinct from pathless.tier
union all
select
    'a false statement has no path in either direction' as check_name,
    labelled.id,
    related.pattern as found,
    'no path within 3 hops' as expected
from labelled
inner join related on labelled.head_cui = related.head_cui and labelled.tail_cui = related.tail_cui
where not labelled.is_true
union all
select
    'a name is a name of its concept' as check_name,
    ended.id,
    'a name that the release does not have' as found,
    ended.cui as expected
from (
    select
        id,
        head_cui as cui,
        head_name as name
    from labelled
    union all
    select
        id,
        tail_cui as cui,
        tail_name as name
    from labelled
) as ended
semi join misnamed on ended.cui = misnamed.cui and ended.name is not distinct from misnamed.name
union all
select distinct
    'an edge of a path is in the graph' as check_name,
    step_of.id,
    'no such evidence' as found,
    concat_ws(' ', step_of.edge.head_cui, step_of.edge.predicate, step_of.edge.tail_cui, step_of.edge.rui) as expected
from (
    select
        id,
        unnest(path) as edge
    from labelled
) as step_of
semi join strange on step_of.edge = strange.edge
