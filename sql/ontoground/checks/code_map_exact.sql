-- Codes mapped as exact whose code without dots is not a code of that concept
-- Grain: one row per offending row of ground.code_map; another road than the mapping takes, which writes the dot
-- Inputs: ground.code_map, release.mrconso
select
    m.source,
    m.code,
    m.vocabulary,
    m.cui
from ground.code_map as m
anti join release.mrconso as c
    on
        m.cui = c.cui and m.vocabulary = c.sab
        and replace(upper(trim(m.code)), '.', '') = replace(upper(c.code), '.', '')
where m.method = 'exact'
order by m.source, m.code, m.vocabulary, m.cui;
