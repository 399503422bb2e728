-- Statements that replacements of a kept end would make
-- Grain: one row per (place, kept end) and replacement. Output: (pair, code, predicate, head_cui, tail_cui)
-- Inputs: asked_code(pair, code), frame, coded
select
    asked_code.pair,
    asked_code.code,
    stays.predicate,
    if(stays.slot = 'head', coded.cui, stays.kept_cui) as head_cui,
    if(stays.slot = 'head', stays.kept_cui, coded.cui) as tail_cui
from asked_code
inner join (
    select distinct
        frame.kept,
        frame.predicate,
        frame.slot,
        frame.kept_cui
    from frame
) as stays on asked_code.pair = stays.kept
inner join coded on asked_code.code = coded.code
