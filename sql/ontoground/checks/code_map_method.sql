-- Rows of the code map with a method that is not in the contract, or that does not go with their vocabulary
-- Grain: one row per offending row of ground.code_map
-- Inputs: ground.code_map, ehr.code
select
    m.source,
    m.code,
    m.vocabulary,
    m.cui,
    m.method
from ground.code_map as m
where
    not case
        when m.vocabulary is null then m.method in ('drug_name', 'drug_name_loose')
        when m.vocabulary = 'NDC' then m.method in ('ndc_rxcui', 'ndc_ingredient')
        when m.vocabulary in ('ICD9CM', 'ICD10CM', 'ICD10PCS') then m.method in ('exact', 'parent_code', 'map')
        else m.method in ('exact', 'map')
    end
    or (m.vocabulary is not null and m.vocabulary in ('ICD9CM', 'ICD10CM', 'ICD10PCS')) <> (m.code_version is not null)
    or m.code_version not in (9, 10)
    or m.source not in (select coalesce(c.source, '') from ehr.code as c)
order by m.source, m.code, m.vocabulary, m.cui;
