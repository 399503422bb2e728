-- Coverage by admission: rows of each admission that have a concept
-- Grain: one row per admission, the least covered first; share is null where nothing is coded
-- Inputs: ehr.admission, ground.event
select
    a.hadm_id,
    count(e.is_mapped) as n_rows,
    count(*) filter (where e.is_mapped) as mapped_rows,
    round(mapped_rows / nullif(n_rows, 0), 4) as share
from ehr.admission as a
left join ground.event as e on a.hadm_id = e.hadm_id
group by a.hadm_id
order by share asc, n_rows desc, a.hadm_id asc;
