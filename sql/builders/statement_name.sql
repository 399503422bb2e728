-- The name by which statements call a concept
-- Grain: one row per concept of the graph
-- Output: statement_name(cui, name). Inputs: mention_concept, kg.name, kg.concept
-- The English name of the release that the cohort's notes use most for it (abbreviations excepted), else its preferred
--   name: preferred names such as "familial hyperlipidemia" can be narrower than what clinicians write
create or replace temp table statement_name as
with used as (
    select
        name.cui,
        name.name,
        count(distinct mention.hadm_id) as n
    from mention_concept as mention
    inner join kg.name as name
        on
            mention.cui = name.cui
            and name.normalized = trim(regexp_replace(lower(mention.text), '[^a-z0-9]+', ' ', 'g'))
    where length(name.normalized) >= 5 and name.name != upper(name.name)
    group by all
),

chosen as (
    select
        cui,
        -- among spellings of one name prefer the one in lower case
        first(name order by n desc, name = lower(name) desc, length(name), name) as name
    from used
    group by cui
)

select
    concept.cui,
    coalesce(chosen.name, concept.name) as name
from kg.concept as concept
left join chosen on concept.cui = chosen.cui;
