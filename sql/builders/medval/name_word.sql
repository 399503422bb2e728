-- How many concepts of problems and procedures have a word in their names
-- Second road: shares no rules and no word tables with builders/medval/rules
-- Grain: one row per word of letters only
-- Output: (word, concepts). Inputs: kg.concept
-- Beside how often English uses a word this tells whether it is a clinical one, whatever the release's size.
with named as (
    select
        cui,
        unnest(list_distinct(regexp_extract_all(lower(name), '[a-z]{3,}'))) as word
    from kg.concept
    where list_has_any(groups, ['DISO', 'PROC'])
)

select
    word,
    count(*) as concepts
from named
group by word
