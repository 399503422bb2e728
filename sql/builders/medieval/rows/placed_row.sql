-- The rows of the dataset, by their numbers
-- Grain: one row per group and quadrant
-- Output: placed_row (the columns of statement, and head_span, tail_span, linked)
-- Inputs: statement, proposition, support_pair, support_closest, support_span. Parameters: taxonomic (list)
-- Spans: both ends of supported statements, the kept end of the others
-- linked: notes do not say what a thing is a kind of, however close two mentions stand
create or replace temp table placed_row as
with pair as (
    select
        support_pair.hadm_id,
        support_pair.head_code,
        support_pair.tail_code,
        support_pair.linked,
        head.span as head_span,
        tail.span as tail_span
    from support_pair
    left join support_span as head on support_pair.hadm_id = head.hadm_id and support_pair.head_mention = head.mention
    left join support_span as tail on support_pair.hadm_id = tail.hadm_id and support_pair.tail_mention = tail.mention
),

closest as (
    select
        support_closest.hadm_id,
        support_closest.code,
        support_span.span
    from support_closest
    inner join support_span
        on support_closest.hadm_id = support_span.hadm_id and support_closest.mention = support_span.mention
)

select
    statement.*,
    pair.head_span,
    pair.tail_span,
    coalesce(pair.linked, false) and not list_contains(getvariable('taxonomic'), proposition.predicate) as linked
from statement
inner join proposition on statement.proposition = proposition.proposition
left join pair
    on
        statement.hadm_id = pair.hadm_id and statement.head_code = pair.head_code
        and statement.tail_code = pair.tail_code
where statement.quadrant in ('Q1', 'Q3')
union all
select
    statement.*,
    if(statement.kept_code = statement.head_code, closest.span, null) as head_span,
    if(statement.kept_code = statement.head_code, null, closest.span) as tail_span,
    false as linked
from statement
left join closest on statement.hadm_id = closest.hadm_id and statement.kept_code = closest.code
where statement.quadrant in ('Q2', 'Q4');
