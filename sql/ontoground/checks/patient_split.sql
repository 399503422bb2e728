-- Patients whose statements are in more than one split
-- Grain: one row per patient
-- Inputs: ground.medieval, ehr.admission
select
    a.subject_id,
    count(distinct m.split) as splits
from ground.medieval as m
inner join ehr.admission as a on m.hadm_id = a.hadm_id
group by a.subject_id
having count(distinct m.split) > 1
order by a.subject_id;
