-- Concepts of codes that the release does not know
-- Grain: one row per offending row of ground.code_map
-- Inputs: ground.code_map, release.mrconso
select
    m.source,
    m.code,
    m.code_version,
    m.cui,
    m.method
from ground.code_map as m
anti join release.mrconso as c on m.cui = c.cui
order by m.source, m.code, m.code_version, m.cui;
