-- Names of one concept, the best first
-- Grain: one row per distinct name, letter case and punctuation aside
-- Inputs: kg.name; variable wanted
-- Output: rows for `ontoground graph show`. Source: sql/kg/name.sql
select
    arg_max(name, (is_preferred, rank, name)) as name,
    string_agg(distinct sab, ', ' order by sab) as vocabularies
from kg.name
where cui = getvariable('wanted')
group by normalized
order by bool_or(is_preferred) desc, max(rank) desc, name asc
