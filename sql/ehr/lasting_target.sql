-- Concepts of the illnesses that last, or end, by name
-- Grain: one row per name and concept
-- Inputs: lasting_name(name, lasts), mention_target(name, cui)
-- Output: (cui, lasts)
select
    target.cui,
    named.lasts
from lasting_name as named
inner join mention_target as target on named.name = target.name
order by all;
