-- What rows of the contradicted configuration must have, or must not have, in common
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per disagreement. Output: (check_name, id, found, expected)
-- Inputs: denying (all rows of contradicted/)
select
    'statements and admissions are contradicted as often as supported' as check_name,
    name as id,
    concat(count(*) filter (where not is_supported), ' contradicted') as found,
    concat(count(*) filter (where is_supported), ' supported') as expected
from (
    select
        concat_ws(': ', split, statement) as name,
        is_supported
    from denying
    union all
    select
        hadm_id::varchar as name,
        is_supported
    from denying
) as counted
group by name
having count(*) filter (where is_supported) != count(*) filter (where not is_supported)
union all
select
    'a contradicted row id occurs once' as check_name,
    id,
    count(*)::varchar as found,
    '1' as expected
from denying
group by id
having count(*) > 1
