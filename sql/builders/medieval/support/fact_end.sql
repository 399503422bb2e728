-- Concepts that can be an end of a fact of an admission
-- Grain: one row per admission and concept
-- Output: fact_end(number, cui, closeness)
-- Inputs: present_mention, closure, linked_base(cui, base_cui), kg.edge_code, kg.predicate_code, kg.node
-- closeness 0: mentioned itself; 1: the ingredient or base of what is mentioned (a note that says Lasix attests
--   furosemide; the reverse is attested too, but nobody would write it); 2: an ancestor, close enough to be meant.
--   Concepts with very many descendants (carcinoma, vascular disease) say too little to be an end, except as a class
create or replace temp table fact_end as
with recursive near_closure as (
    select
        closure.cui,
        closure.other,
        min(
            case
                when closure.relation = 'self' then 0
                when closure.relation = 'equivalent' then 1
                else 2
            end
        ) as closeness
    from closure
    left join linked_base as base on closure.cui = base.cui
    where
        closure.relation = 'self'
        or (closure.relation = 'equivalent' and base.base_cui = closure.other)
        or (closure.relation = 'ancestor' and closure.depth <= getvariable('ancestor_steps'))
    group by closure.cui, closure.other
),

meant as (
    select distinct
        number,
        cui
    from present_mention
),

ranked as (
    select
        meant.number,
        near_closure.other as cui,
        min(near_closure.closeness) as closeness
    from meant
    inner join near_closure on meant.cui = near_closure.cui
    group by meant.number, near_closure.other
),

-- the taxonomy in the numbers of the graph, which is climbed down many times
step as materialized (
    select distinct
        edge.tail as above,
        edge.head as below
    from kg.edge_code as edge
    inner join kg.predicate_code as code on edge.predicate = code.code
    where code.predicate in ('is_a', 'placed_under')
),

kin as (
    select distinct
        node.node,
        node.node as descendant
    from near_closure
    inner join kg.node as node on near_closure.other = node.cui
    where near_closure.closeness < 2 and near_closure.cui in (select meant.cui from meant)
    union
    select
        kin.node,
        step.below as descendant
    from kin
    inner join step on kin.descendant = step.above
),

broad as (
    select node.cui
    from kin
    inner join kg.node as node on kin.node = node.node
    group by node.cui
    having count(*) > greatest(50, 0.01 * (select count(distinct step.below) from step))
)

select
    ranked.number,
    ranked.cui,
    ranked.closeness
from ranked
where ranked.cui not in (select broad.cui from broad) or ranked.closeness = 2
-- by admission, so that a shard reads its own part only
order by ranked.number;
