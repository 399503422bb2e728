-- Ends of facts that a mention of a concept is close enough to be linked as
-- Grain: one row per concept of a mention and end
-- Output: near_end(cui, code). Inputs: closure, coded. Parameter: ancestor_steps
create or replace temp table near_end as
select
    closure.cui,
    coded.code
from closure
inner join coded on closure.other = coded.cui and coded.is_end
where
    closure.relation in ('self', 'equivalent')
    or (closure.relation = 'ancestor' and closure.depth <= getvariable('ancestor_steps'));
