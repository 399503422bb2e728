-- Notes of admissions that the hosp module does not know
-- Grain: one row per note
-- Inputs: ehr.discharge_note, ehr.admission
-- Caveat: hosp and note have releases of their own, a few orphans are known in official data
select
    n.note_id,
    n.hadm_id
from ehr.discharge_note as n
anti join ehr.admission as a on n.hadm_id = a.hadm_id
order by n.note_id;
