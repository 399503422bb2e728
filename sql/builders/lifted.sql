-- Pairs that the records hold together more often than chance would
-- Grain: one row per ordered pair among the candidates for false statements
-- Output: lifted(cui, other, n, lift)
-- Inputs: false_candidate, ground.admission_concept, closure, attested
-- lift = P(both) / (P(one) P(other)) over all admissions with codes or notes; fewer than three common admissions tell
--   nothing. Source: DESIGN section 4 (False)
create or replace temp table lifted as
with wanted as (
    select head_cui as cui from false_candidate
    union
    select tail_cui from false_candidate
),

carried as (
    select
        coded.hadm_id,
        closure.other as cui
    from ground.admission_concept as coded
    inner join closure on coded.cui = closure.cui and closure.relation in ('self', 'equivalent')
    inner join wanted on closure.other = wanted.cui
    union
    select
        attested.hadm_id,
        attested.cui
    from attested
    inner join wanted on attested.cui = wanted.cui
),

single as (
    select
        cui,
        count(*) as n
    from carried
    group by cui
),

pair as (
    select distinct
        head_cui as cui,
        tail_cui as other
    from false_candidate
),

counted as (
    select
        pair.cui,
        pair.other,
        count(*) as n
    from pair
    inner join carried as head on pair.cui = head.cui
    inner join carried as tail on pair.other = tail.cui and head.hadm_id = tail.hadm_id
    group by pair.cui, pair.other
)

select
    counted.cui,
    counted.other,
    counted.n,
    counted.n * (select count(distinct hadm_id) from carried) / (one.n * two.n) as lift
from counted
inner join single as one on counted.cui = one.cui
inner join single as two on counted.other = two.cui
where
    counted.n >= 3
    and counted.n * (select count(distinct hadm_id) from carried) / (one.n * two.n) > getvariable('max_lift');
