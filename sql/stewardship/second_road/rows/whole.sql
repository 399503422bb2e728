-- What rows of different patients must not have in common
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per disagreement. Output: (check_name, id, found, expected). Inputs: labelled (all rows)
select
    'a row id occurs once' as check_name,
    id,
    count(*)::varchar as found,
    '1' as expected
from labelled
group by id
having count(*) > 1
union all
select
    'a pair is in one fact_split' as check_name,
    concat(least(head_cui, tail_cui), ' ', greatest(head_cui, tail_cui)) as id,
    count(distinct fact_split)::varchar as found,
    '1' as expected
from labelled
where fact_split is not null
group by least(head_cui, tail_cui), greatest(head_cui, tail_cui)
having count(distinct fact_split) > 1
