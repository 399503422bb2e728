-- Pairs of concepts that are in more than one part of the fact split
-- Grain: one row per unordered pair
-- Inputs: ground.medieval
select
    least(head_cui, tail_cui) as one_cui,
    greatest(head_cui, tail_cui) as other_cui,
    count(distinct fact_split) as splits
from ground.medieval
group by least(head_cui, tail_cui), greatest(head_cui, tail_cui)
having count(distinct fact_split) > 1
order by one_cui, other_cui;
