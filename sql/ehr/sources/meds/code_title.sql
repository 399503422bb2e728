-- Titles of codes, as codes.parquet gives them
-- Grain: one row per code and kind of code. Output: the view ehr.code_title (ehr/data/contract.tsv)
-- Inputs: code. Source: MEDS 0.4; ehr/data/meds_columns.tsv
select
    kind,
    vocabulary,
    source_code as code,
    min(description) as title
from code
where kind in ('diagnosis', 'procedure') and description is not null
group by kind, vocabulary, source_code
