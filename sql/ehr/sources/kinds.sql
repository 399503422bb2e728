-- The notes that the flow reads and the codes of the records, by their kind, and all codes in one form
-- Grain: one row per note; of codes one per row of a source table, in ehr.code two per drug order: its code, its name
-- Output: views ehr.discharge_note, whose mentions are found, and ehr.radiology_note; ehr.diagnosis, ehr.procedure,
--   ehr.drug; ehr.code(kind, source_table, source, hadm_id, vocabulary, code, name, time). kind: diagnosis, procedure,
--   drug, drug_name; source: as ground.code_map calls it; name: what the order calls the drug
-- Inputs: views of the source that is loaded (ehr/data/contract.tsv)
create or replace view ehr.discharge_note as
select * exclude (kind)
from ehr.note
where kind = 'discharge';

create or replace view ehr.radiology_note as
select * exclude (kind)
from ehr.note
where kind = 'radiology';

create or replace view ehr.diagnosis as
select * exclude (kind, name)
from ehr.event
where kind = 'diagnosis';

create or replace view ehr.procedure as
select * exclude (kind, name)
from ehr.event
where kind = 'procedure';

create or replace view ehr.drug as
select * exclude (kind, seq_num)
from ehr.event
where kind = 'drug';

create or replace view ehr.code as
select
    kind,
    source_table,
    source_table || if(kind = 'drug', '_' || lower(coalesce(vocabulary, 'code')), '') as source,
    hadm_id,
    vocabulary,
    code,
    if(kind = 'drug', name, null) as name,
    time
from ehr.event
where kind in ('diagnosis', 'procedure', 'drug')
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
