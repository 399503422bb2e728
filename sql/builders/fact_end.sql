-- Concepts that can be an end of a fact of an admission
-- Grain: one row per admission and concept
-- Output: fact_end(hadm_id, cui, base_cui, closeness)
-- Inputs: attested, linked_base(cui, base_cui), kg.edge
-- closeness 0: mentioned itself; 1: the ingredient or base of what is mentioned (a note that says Lasix attests
--   furosemide; the reverse is attested too, but nobody would write it); 2: an ancestor, close enough to be meant.
--   base_cui is one for all forms of a drug. Concepts with very many descendants (carcinoma, vascular disease) say too
--   little to be an end, except as a class
create or replace temp table fact_end as
with recursive kin as (
    select distinct
        cui,
        cui as descendant
    from attested
    union
    select
        kin.cui,
        edge.head_cui as descendant
    from kin
    inner join kg.edge as edge on kin.descendant = edge.tail_cui
    where edge.predicate = 'is_a'
),

broad as (
    select cui
    from kin
    group by cui
    having
        count(*) > greatest(
            50,
            0.01 * (
                select count(distinct head_cui) from kg.edge
                where predicate = 'is_a'
            )
        )
),

ranked as (
    select
        attested.hadm_id,
        attested.cui,
        min(
            case
                when attested.relation = 'self' then 0
                when attested.relation = 'equivalent' and base.base_cui = attested.cui then 1
                when attested.relation = 'ancestor' and attested.depth <= getvariable('ancestor_steps') then 2
            end
        ) as closeness
    from attested
    left join linked_base as base on attested.via_cui = base.cui
    group by attested.hadm_id, attested.cui
)

select
    ranked.hadm_id,
    ranked.cui,
    coalesce(base.base_cui, ranked.cui) as base_cui,
    ranked.closeness
from ranked
left join linked_base as base on ranked.cui = base.cui
where
    ranked.closeness is not null
    and (ranked.cui not in (select broad.cui from broad) or ranked.closeness = 2);
