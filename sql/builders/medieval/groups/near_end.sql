-- Ends of facts that a mention of a concept is close enough to be linked as
-- Grain: one row per concept of a mention and end
-- Output: near_end(cui, code, is_same); is_same: the concept itself or another form of it
-- Inputs: closure, nameable. Parameter: ancestor_steps
create or replace temp table near_end as
select
    closure.cui,
    nameable.code,
    closure.relation in ('self', 'equivalent') as is_same
from closure
inner join nameable on closure.other = nameable.cui and nameable.is_end
where
    closure.relation in ('self', 'equivalent')
    or (closure.relation = 'ancestor' and closure.depth <= getvariable('ancestor_steps'));
