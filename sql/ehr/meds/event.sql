-- Events of a MEDS dataset whose code means something, each with its admission
-- Grain: one row per diagnosis, procedure, order or exposure of a drug: meds.event(subject_id, time, code, hadm_id,
--   joined, stop), and one per note: temporary table meds_note_place(filename, file_row_number, note_id, hadm_id,
--   joined), whose texts the next statement reads
-- Inputs: meds_row, meds.code, meds_wanted and by_time (sql/ehr/sources/by_time.sql)
-- The admission is the event's own (joined: stated), else the stay in which its time lies (joined: time)
-- A note without an identifier of its own is called by patient, kind and its place among the patient's
-- The end of an order is the first end of the same name and code from its beginning on
-- Source: docs/sources.md
create or replace temp table meds_placed as
select
    *,
    'stated' as joined
from meds_wanted
where hadm_id is not null
union all by name
select
    *,
    if(hadm_id is null, null, 'time') as joined
from by_time;

-- DuckDB does not know how many rows a table of the same transaction has, and would compare each with each.
set asof_loop_join_threshold = 0;

create or replace table meds.event as
with named as (
    select
        *,
        concat_ws('//', coalesce(name, ''), coalesce(source_code, '')) as drug
    from meds.code
),

ending as (
    select
        meds_row.subject_id,
        meds_row.time,
        named.drug
    from meds_row
    inner join named on meds_row.code = named.code
    where named.kind = 'drug_end' and meds_row.time is not null
),

ordered as (
    select
        meds_placed.*,
        if(meds_placed.kind = 'drug', named.drug, null) as drug
    from meds_placed
    inner join named on meds_placed.code = named.code
    where meds_placed.kind <> 'note'
)

select
    ordered.subject_id,
    ordered.time,
    ordered.code,
    ordered.hadm_id,
    ordered.joined,
    ending.time as stop
from ordered
asof left join ending
    on ordered.subject_id = ending.subject_id and ordered.drug = ending.drug and ordered.time <= ending.time;

create or replace temp table meds_note_place as
with note as (
    select
        meds_placed.*,
        coalesce(code.vocabulary, lower(code.name)) as note_kind
    from meds_placed
    inner join meds.code as code on meds_placed.code = code.code
    where meds_placed.kind = 'note'
)

select
    filename,
    file_row_number,
    coalesce(
        note_id,
        concat_ws(
            '-', subject_id, note_kind,
            row_number() over (partition by subject_id, note_kind order by time, filename, file_row_number)
        )
    ) as note_id,
    hadm_id,
    joined
from note;

drop table meds_placed;

reset asof_loop_join_threshold;
