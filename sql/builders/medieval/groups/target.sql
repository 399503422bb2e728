-- How often each concept should stand as the replaced end of unsupported statements
-- Grain: one row per concept. Output: (code, expected). Inputs: supported_use
-- Parameter: spread, 0 for exactly once for each supported use, 1 for a chi-square draw with one degree of freedom
select
    code,
    sum(greatest(0, 1 - getvariable('spread') - getvariable('spread') * 2 * radius * turn)) as expected
from supported_use
group by code
order by code;
