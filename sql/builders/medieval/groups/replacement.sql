-- Statements that replacements of a kept end would make
-- Grain: one row per (argument, kept end) and replacement. Output: asked_code.*, predicate, head_cui, tail_cui
-- Inputs: asked_code(pair, code, ...), kept_end, nameable
select
    asked_code.*,
    kept_end.predicate,
    if(kept_end.slot = 'head', nameable.cui, kept_end.kept_cui) as head_cui,
    if(kept_end.slot = 'head', kept_end.kept_cui, nameable.cui) as tail_cui
from asked_code
inner join kept_end on asked_code.pair = kept_end.pair
inner join nameable on asked_code.code = nameable.code
