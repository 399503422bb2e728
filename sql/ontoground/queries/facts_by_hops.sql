-- Facts of the built statements by number of hops
-- Grain: one row per (predicate, hops, tier) of true statements
-- Inputs: ground.medieval
-- Caveat: single edges of the graph are counted by relations_by_predicate
select
    predicate,
    hops,
    tier,
    count(*) as statements,
    count(distinct row(head_cui, tail_cui)) as distinct_facts,
    count(distinct hadm_id) as admissions
from ground.medieval
where quadrant in ('Q1', 'Q2')
group by predicate, hops, tier
order by predicate, hops, tier;
