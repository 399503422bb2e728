-- Distinct codes of a MEDS dataset, before what they mean is known
-- Grain: one row per code of the data. Output: temporary table meds_code(code, n_events, kind, vocabulary, source_code,
--   name, description)
-- Inputs: meds_row (of the data files), meds_title(code, description) of codes.parquet
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
)

select
    used.code,
    used.n_events,
    null::varchar as kind,
    null::varchar as vocabulary,
    null::varchar as source_code,
    null::varchar as name,
    title.description
from used
left join title on used.code = title.code
order by used.code;
