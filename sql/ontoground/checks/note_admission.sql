-- Notes of admissions that the hosp module does not know
-- Grain: one row per note
-- Inputs: mimiciv_note.discharge, mimiciv_hosp.admissions
-- Caveat: hosp and note have releases of their own, a few orphans are known in official data
select
    n.note_id,
    n.hadm_id
from mimiciv_note.discharge as n
anti join mimiciv_hosp.admissions as a on n.hadm_id = a.hadm_id
order by n.note_id;
