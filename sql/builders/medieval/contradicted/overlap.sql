-- How often the names of the ends stand in the context: of the end that stands there less often, and of both
-- Grain: one row per row that baselines look at. Output: (id, least, total)
-- Inputs: measured_row(id, subject_id, context, head_cui, tail_cui), kg.name
-- All names that the release has for the concept, whole words, in any case. A model that looks for both ends in the
--   context and does not read what is said of them sees no more than this
with noted as (
    select
        subject_id,
        concat(' ', normal_name(any_value(context)), ' ') as said
    from measured_row
    group by subject_id
),

ended as (
    select
        subject_id,
        head_cui as cui
    from measured_row
    union
    select
        subject_id,
        tail_cui as cui
    from measured_row
),

called as (
    select distinct
        name.cui,
        concat(' ', name.normalized, ' ') as name
    from kg.name as name
    where name.cui in (select ended.cui from ended)
),

found as (
    select
        ended.subject_id,
        ended.cui,
        sum((length(noted.said) - length(replace(noted.said, called.name, ''))) // length(called.name)) as n
    from ended
    inner join noted on ended.subject_id = noted.subject_id
    inner join called on ended.cui = called.cui
    group by ended.subject_id, ended.cui
)

select
    measured_row.id,
    least(coalesce(head.n, 0), coalesce(tail.n, 0))::integer as least,
    (coalesce(head.n, 0) + coalesce(tail.n, 0))::integer as total
from measured_row
left join found as head on measured_row.subject_id = head.subject_id and measured_row.head_cui = head.cui
left join found as tail on measured_row.subject_id = tail.subject_id and measured_row.tail_cui = tail.cui
order by measured_row.id;
