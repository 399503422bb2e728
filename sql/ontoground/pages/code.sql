-- The concept of a code, dots and letter case aside; where several codes or concepts are called so, the exact one first
-- Grain: at most one row. Inputs: ground.code_map; variable wanted. Output: cui, for the box of `ontoground explore`
-- Source: docs/definitions.md#code
select cui
from ground.code_map
where upper(replace(code, '.', '')) = upper(replace(getvariable('wanted'), '.', ''))
order by (method <> 'exact') asc, n_candidates asc, code asc, cui asc
limit 1
