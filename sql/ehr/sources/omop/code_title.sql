-- Titles of OMOP's codes, as its vocabulary gives them
-- Grain: one row per code and kind of code. Output: the view ehr.code_title (ehr/data/contract.tsv)
-- Inputs: code. Source: https://ohdsi.github.io/CommonDataModel/cdm54.html#concept
select
    kind.kind,
    code.vocabulary,
    code.code,
    min(code.name) as title
from code
cross join (values ('diagnosis'), ('procedure')) as kind (kind)
where code.code is not null
group by all
