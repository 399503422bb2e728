-- Statements with the second split: disjoint in patients and also in (head, tail)
-- Grain: one row per statement
-- Output: fact_split (the columns of statement, and fact_split). Inputs: statement
-- A pair belongs to the latest split that uses it: test rows all stay, validation rows stay unless test has the pair,
--   training rows unless either has; what is left out has no fact_split. Pairs are unordered. Source: DESIGN section 6
create or replace temp table fact_split as
with keyed as (
    select
        *,
        least(head_cui, tail_cui) as low_cui,
        greatest(head_cui, tail_cui) as high_cui,
        list_position(['train', 'validation', 'test'], split) as place
    from statement
),

owned as (
    select
        *,
        max(place) over (partition by low_cui, high_cui) as last_place
    from keyed
)

select
    * exclude (low_cui, high_cui, place, last_place),
    if(place = last_place, split, null) as fact_split
from owned
-- rows are written some patients at a time
order by subject_id;
