-- Events of a MEDS dataset whose code means something, each with its admission
-- Grain: one row per diagnosis, procedure, order or exposure of a drug: meds.event, as ehr/data/contract.tsv has them,
--   and joined. Inputs: meds.code, meds_wanted, by_time (sql/ehr/sources/by_time.sql)
-- Output: meds_placed too, a temporary table: notes beside them. The admission is the event's own (joined: stated),
--   else the stay in which its time lies (joined: time)
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

create or replace table meds.event as
select
    code.kind,
    placed.subject_id,
    placed.hadm_id,
    code.vocabulary,
    code.source_code as code,
    coalesce(code.name, code.description) as name,
    placed.time,
    if(code.kind = 'drug', 'medication', code.kind) as source_table,
    placed.joined
from meds_placed as placed
inner join meds.code as code on placed.code = code.code
where code.kind <> 'note';
