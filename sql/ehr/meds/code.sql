-- Distinct codes of a MEDS dataset, and what they mean
-- Grain: one row per code of the data. Output: temporary table meds_code(code, n_events, kind, vocabulary, source_code,
--   name, description)
-- Inputs: meds_row (of the data files), meds_title(code, description) of codes.parquet; macros of the patterns of codes
--   (ehr/data/meds_codes.tsv)
-- Source: MEDS 0.4
create or replace temp table meds_code as
with used as (
    select
        code,
        count(*) as n_events
    from meds_row
    where code is not null and subject_id is not null
    group by code
),

title as (
    select
        code,
        min(description) as description
    from meds_title
    group by code
),

fitted as (
    select
        *,
        meds_fit(code) as fit
    from used
)

select
    fitted.code,
    fitted.n_events,
    meds_kinds()[fitted.fit] as kind,
    nullif(meds_vocabularies()[fitted.fit], '') as vocabulary,
    meds_part_code(fitted.code, fitted.fit) as source_code,
    meds_part_name(fitted.code, fitted.fit) as name,
    title.description
from fitted
left join title on fitted.code = title.code;
