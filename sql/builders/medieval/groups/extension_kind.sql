-- Classes that could describe the kept end of some groups: "..., which is a type of X"
-- Grain: described, one row per group that gets an addition; kind_pair, one per kept end and class above it
-- Output: described(group_id, kept_cui, original_cui), kind_pair(head_cui, tail_cui)
-- Inputs: fact_group, choice, kg.edge. Parameters: extended_share; taxonomic, predicates that name a class themselves
create or replace temp table described as
select distinct
    fact_group.group_id,
    fact_group.kept_cui,
    fact_group.original_cui
from fact_group
inner join choice on fact_group.group_id = choice.group_id
where
    unit(concat_ws(chr(31), 'extend', fact_group.group_id)) <= getvariable('extended_share')
    and not list_contains(getvariable('taxonomic'), fact_group.predicate);

create or replace temp table kind_pair as
select distinct
    edge.head_cui,
    edge.tail_cui
from kg.edge as edge
where
    edge.predicate in ('is_a', 'has_pharmacologic_class')
    and edge.head_cui in (select described.kept_cui from described);
