-- The notes that the flow reads, by their kind, and all codes of the records in one form
-- Grain: one row per note; of codes one per row of a source table, and two per drug order: its code and its name
-- Output: views ehr.discharge_note, whose mentions are found, and ehr.radiology_note; ehr.code(kind, source_table,
--   source, hadm_id, vocabulary, code, name, time). kind: diagnosis, procedure, drug, drug_name; source: as
--   ground.code_map calls it; name: what the order calls the drug
-- Inputs: views of the source that is loaded (ehr/data/contract.tsv)
create or replace view ehr.discharge_note as
select * exclude (kind)
from ehr.note
where kind = 'discharge';

create or replace view ehr.radiology_note as
select * exclude (kind)
from ehr.note
where kind = 'radiology';

create or replace view ehr.code as
select
    'diagnosis' as kind,
    source_table,
    source_table as source,
    hadm_id,
    vocabulary,
    code,
    null::varchar as name,
    time
from ehr.diagnosis
union all
select
    'procedure' as kind,
    source_table,
    source_table as source,
    hadm_id,
    vocabulary,
    code,
    null as name,
    time
from ehr.procedure
union all
select
    'drug' as kind,
    source_table,
    source_table || '_' || lower(coalesce(vocabulary, 'code')) as source,
    hadm_id,
    vocabulary,
    code,
    name,
    time
from ehr.drug
union all
select
    'drug_name' as kind,
    source_table,
    source_table || '_drug' as source,
    hadm_id,
    null as vocabulary,
    name as code,
    name,
    time
from ehr.drug;
