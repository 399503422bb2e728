-- Events of a MEDS dataset whose code means something, with the admission that each states
-- Grain: one row per event. Inputs: meds_row, meds.code, meds.admission. Output: views meds_wanted, and for
--   sql/ehr/sources/by_time.sql those that state none, timeless, and the stays, stay. Source: docs/sources.md
create or replace temp view meds_wanted as
select
    meds_row.* exclude (hadm_id, text_value),
    code.kind,
    stay.hadm_id
from meds_row
inner join meds.code as code on meds_row.code = code.code
left join meds.admission as stay on meds_row.hadm_id = stay.hadm_id and meds_row.subject_id = stay.subject_id
where code.kind in ('diagnosis', 'procedure', 'drug', 'note') and meds_row.subject_id is not null;

create or replace temp view timeless as
select * from meds_wanted
where hadm_id is null;

create or replace temp view stay as
select * from meds.admission;
