-- Spans whose words are a name of something else than the end that they stand for
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per row and role
-- Output: steward_other_meaning(uid, role)
-- Inputs: steward_span(uid, role, cui, text), steward_meaning(cui, means, role), kg.name, steward_key. Words that are
--   no name of the release (an abbreviation, another form) are not held against the span
create or replace temp table steward_other_meaning as
with said as (
    select
        span.uid,
        span.role,
        span.cui,
        steward_key(span.text) as key
    from steward_span as span
),

named as (
    select distinct
        cui,
        steward_key(name) as key
    from kg.name
),

meant as (
    select
        said.uid,
        said.role,
        bool_or(meaning.means is not null) as attests
    from said
    inner join named as name on said.key = name.key
    left join steward_meaning as meaning
        on said.cui = meaning.cui and name.cui = meaning.means and meaning.role = 'attests'
    group by said.uid, said.role
)

select
    uid,
    role
from meant
where not attests;
