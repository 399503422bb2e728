-- One concept that stands for all forms of a drug: brands, salts and single-ingredient products
-- Grain: one row per concept that has equivalents
-- Output: linked_base(cui, base_cui)
-- Inputs: closure, kg.edge
-- The form that carries most indications stands for all, since sources state them of the substance; ties by CUI
create or replace temp table linked_base as
with member as (
    select distinct
        cui,
        other
    from closure
    where relation in ('self', 'equivalent')
),

indication as (
    select
        head_cui,
        count(distinct tail_cui) as n
    from kg.edge
    where predicate in ('treats', 'prevents')
    group by head_cui
),

brand as (
    select distinct head_cui from kg.edge
    where predicate = 'tradename_of'
)

select
    member.cui,
    first(
        member.other
        order by coalesce(indication.n, 0) desc, (brand.head_cui is not null), member.other
    ) as base_cui
from member
left join indication on member.other = indication.head_cui
left join brand on member.other = brand.head_cui
group by member.cui;
