-- Whether the graph knows the predicate of an argument for a concept
-- Grain: one row per argument and concept that it is known of. Output: (argument, code)
-- Inputs: known_end, argument, nameable
select
    argument.argument,
    nameable.code
from known_end
inner join argument on known_end.predicate = argument.predicate and known_end.slot = argument.slot
inner join nameable on known_end.cui = nameable.cui
