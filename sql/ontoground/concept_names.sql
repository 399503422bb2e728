-- Names of one concept, the best first
-- Grain: one row per distinct name
-- Inputs: kg.name; variable wanted
-- Output: rows for `ontoground graph show`. Source: sql/kg/name.sql
select
    name,
    string_agg(distinct sab, ', ' order by sab) as vocabularies
from kg.name
where cui = getvariable('wanted')
group by name
order by bool_or(is_preferred) desc, max(rank) desc, name asc
