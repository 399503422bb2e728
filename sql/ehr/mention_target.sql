-- Concepts of the long forms that the project's own tables name
-- Grain: one row per long form and concept, best first
-- Inputs: kg.name, kg.concept, kg.edge, long_form (name, normalized)
-- Output: temp table mention_target(name, cui, position)
create or replace temp table mention_target as
with found as (
    select
        long_form.name,
        name.cui,
        bool_or(name.is_preferred) as is_preferred,
        max(name.rank) as rank
    from long_form
    inner join kg.name as name on long_form.normalized = name.normalized
    group by long_form.name, name.cui
),

degree as (
    select
        found.cui,
        count(*) as n
    from (select distinct cui from found) as found
    inner join kg.edge as edge on found.cui = edge.head_cui or found.cui = edge.tail_cui
    group by found.cui
)

select
    found.name,
    found.cui,
    row_number() over (
        partition by found.name
        order by found.is_preferred desc, found.rank desc, coalesce(degree.n, 0) desc, found.cui
    ) as position
from found
left join degree on found.cui = degree.cui;
