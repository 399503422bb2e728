-- Concepts per admission: how many each kind of code states
-- Grain: one row per kind; admissions without one count as 0
-- Inputs: ground.admission_concept, ehr.admission
with kind as (
    select unnest(['diagnosis', 'procedure', 'drug', 'ingredient']) as kind
),

counted as (
    select
        a.hadm_id,
        k.kind,
        count(distinct c.cui) as n
    from ehr.admission as a
    cross join kind as k
    left join ground.admission_concept as c on a.hadm_id = c.hadm_id and k.kind = c.kind
    group by a.hadm_id, k.kind
)

select
    kind,
    count(*) as admissions,
    count(*) filter (where n > 0) as admissions_with_any,
    round(avg(n), 2) as mean,
    quantile_disc(n, 0.25) as lower_quartile,
    quantile_disc(n, 0.5) as median,
    quantile_disc(n, 0.75) as upper_quartile,
    max(n) as most
from counted
group by kind
order by kind;
