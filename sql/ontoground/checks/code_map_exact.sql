-- ICD codes mapped as exact whose code without dots is not a code of that concept
-- Grain: one row per offending row of ground.code_map; another road than the mapping takes, which writes the dot
-- Inputs: ground.code_map, release.mrconso
select
    m.source,
    m.code,
    m.code_version,
    m.cui
from ground.code_map as m
anti join release.mrconso as c
    on
        m.cui = c.cui and replace(m.code, '.', '') = replace(c.code, '.', '')
        and c.sab = case
            when m.code_version = 9 then 'ICD9CM'
            when m.source = 'diagnoses_icd' then 'ICD10CM'
            else 'ICD10PCS'
        end
where m.method = 'exact'
order by m.source, m.code, m.code_version, m.cui;
