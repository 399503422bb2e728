-- The class that describes the kept end of some groups: "..., which is a type of X", in all statements of the group
--   alike
-- Grain: one row per group that gets an addition
-- Output: extension(group_id, broader_cui, broader_name)
-- Inputs: fact_group, choice, kg.edge, statement_name
-- Parameters: extended_share; taxonomic, predicates that name a class themselves. The kept end is the same in the
--   four statements of a group, so that the addition cannot tell them apart. MediEval,
--   figure 2
create or replace temp table extension as
with described as (
    select distinct
        fact_group.group_id,
        fact_group.kept_cui,
        fact_group.original_cui
    from fact_group
    inner join choice on fact_group.group_id = choice.group_id
    where
        unit(concat_ws(chr(31), 'extend', fact_group.group_id)) <= getvariable('extended_share')
        and not list_contains(getvariable('taxonomic'), fact_group.predicate)
),

parent as (
    select
        described.group_id,
        edge.tail_cui as broader_cui
    from described
    inner join kg.edge as edge on described.kept_cui = edge.head_cui
    inner join statement_name as class_name on edge.tail_cui = class_name.cui
    where
        edge.predicate in ('is_a', 'has_pharmacologic_class')
        and edge.tail_cui != described.original_cui
        and plain_class(class_name.name)
)

select
    parent.group_id,
    parent.broader_cui,
    broader.name as broader_name
from parent
inner join statement_name as broader on parent.broader_cui = broader.cui
qualify
    row_number() over (
        partition by parent.group_id
        order by unit(concat_ws(chr(31), 'broader', parent.group_id, parent.broader_cui)), parent.broader_cui
    ) = 1;
