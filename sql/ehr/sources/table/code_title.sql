-- Titles of codes, where a plain table names them
-- Grain: one row per code and kind of code. Output: the view ehr.code_title (ehr/data/contract.tsv)
-- Inputs: codes. Source: docs/sources.md
select
    ehr.kind_of_code(any_value(kind), any_value(vocabulary)) as kind,
    ehr.vocabulary(any_value(vocabulary)) as vocabulary,
    code,
    min(name) as title
from codes
where name <> ''
group by ehr.kind_of_code(kind, vocabulary), ehr.vocabulary(vocabulary), code
