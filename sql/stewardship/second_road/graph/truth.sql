-- What the graph and the release say of each claim
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per (head, predicate, tail)
-- Output: truth(head_cui, predicate, tail_cui, is_true, why): is_true is null where it cannot be said
-- Inputs: claim(head_cui, predicate, tail_cui, ...), related_pair, contraindicated, release_relation, kg.predicate.
--   Parameter: tiers. Source: docs/definitions.md#true
create or replace temp table truth as
with question as (
    select distinct
        head_cui,
        predicate,
        tail_cui
    from claim
),

best as (
    select
        head_cui,
        predicate,
        tail_cui,
        min_by(
            concat(pattern, ' (', tier, ')'),
            list_position(['stated', 'equivalent', 'inherited', 'plausible'], tier) * 10 + hops
        ) as path
    from related_pair
    where list_contains(getvariable('tiers'), tier)
    group by head_cui, predicate, tail_cui
),

any_path as (
    select
        least(head_cui, tail_cui) as one_cui,
        greatest(head_cui, tail_cui) as other_cui,
        min(concat(pattern, ' (', tier, ')')) as path
    from related_pair
    group by all
),

benefit as (
    select distinct unnest([predicate, inverse]) as predicate
    from kg.predicate
    where asserts_benefit
)

select
    question.head_cui,
    question.predicate,
    question.tail_cui,
    case
        when best.path is not null and benefit.predicate is not null and forbidden.head_cui is not null then null
        when best.path is not null then true
        when any_path.path is null and release.relation is null then false
    end as is_true,
    case
        when best.path is not null and benefit.predicate is not null and forbidden.head_cui is not null
            then concat('path ', best.path, ', but the two are contraindicated')
        when best.path is not null then concat('path ', best.path)
        when any_path.path is not null then concat('only a path that does not say this: ', any_path.path)
        when release.relation is not null then concat('no path, but MRREL relates the two: ', release.relation)
        else 'no path within three hops in either direction'
    end as why
from question
left join best
    on
        question.head_cui = best.head_cui and question.predicate = best.predicate
        and question.tail_cui = best.tail_cui
left join any_path
    on
        least(question.head_cui, question.tail_cui) = any_path.one_cui
        and greatest(question.head_cui, question.tail_cui) = any_path.other_cui
left join contraindicated as forbidden
    on question.head_cui = forbidden.head_cui and question.tail_cui = forbidden.tail_cui
left join release_relation as release
    on question.head_cui = release.head_cui and question.tail_cui = release.tail_cui
left join benefit on question.predicate = benefit.predicate;
