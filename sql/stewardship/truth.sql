-- What the graph says of each relation
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per (head, predicate, tail)
-- Output: steward_truth(head_cui, predicate, tail_cui, is_true, why): is_true is null where it cannot be said
-- Inputs: steward_question(head_cui, predicate, tail_cui), steward_relation_all, steward_forbidden_all,
--   steward_raw_all, kg.predicate. Variable: steward_tiers. Source: docs/definitions.md#true
create or replace temp table steward_truth as
with best as (
    select
        question.head_cui,
        question.predicate,
        question.tail_cui,
        min_by(
            struct_pack(pattern := relation.pattern, tier := relation.tier),
            list_position(['stated', 'equivalent', 'inherited', 'plausible'], relation.tier) * 10 + relation.hops
        ) as path
    from steward_question as question
    inner join steward_relation_all as relation
        on
            question.head_cui = relation.head_cui and question.predicate = relation.predicate
            and question.tail_cui = relation.tail_cui
    where list_contains(getvariable('steward_tiers'), relation.tier)
    group by all
),

some_path as (
    select
        question.head_cui,
        question.predicate,
        question.tail_cui,
        min(concat(relation.pattern, ' (', relation.tier, ')')) as pattern
    from steward_question as question
    inner join steward_relation_all as relation
        on
            (question.head_cui = relation.head_cui and question.tail_cui = relation.tail_cui)
            or (question.head_cui = relation.tail_cui and question.tail_cui = relation.head_cui)
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
        when some_path.pattern is null and raw.relation is null then false
    end as is_true,
    case
        when best.path is not null and benefit.predicate is not null and forbidden.head_cui is not null
            then concat('path ', best.path.pattern, ', but the two are contraindicated')
        when best.path is not null then concat('path ', best.path.pattern, ' (', best.path.tier, ')')
        when some_path.pattern is not null then concat('only a path that does not say this: ', some_path.pattern)
        when raw.relation is not null then concat('no path, but MRREL relates the two: ', raw.relation)
        else 'no path within three hops in either direction'
    end as why
from steward_question as question
left join best
    on
        question.head_cui = best.head_cui and question.predicate = best.predicate
        and question.tail_cui = best.tail_cui
left join some_path
    on
        question.head_cui = some_path.head_cui and question.predicate = some_path.predicate
        and question.tail_cui = some_path.tail_cui
left join steward_forbidden_all as forbidden
    on question.head_cui = forbidden.head_cui and question.tail_cui = forbidden.tail_cui
left join steward_raw_all as raw on question.head_cui = raw.head_cui and question.tail_cui = raw.tail_cui
left join benefit on question.predicate = benefit.predicate;
