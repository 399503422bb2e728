-- Close relatives of replaced ends: concepts that share a direct parent and a semantic group
-- Grain: one row per group and relative that is neither attested nor unclear in the admission
-- Output: relative(group_id, hadm_id, predicate, head_cui, tail_cui, candidate_cui)
-- Inputs: fact_group, kg.edge, kg.concept, unclear, linked_base, statement_name
-- The parents of a brand or salt are those of its substance. Parents with very many children say nothing about
--   closeness and are left out. Source: DESIGN section 6 (Q2)
create or replace temp table relative as
with parent as (
    select distinct
        head_cui as cui,
        tail_cui as parent
    from kg.edge
    where predicate in ('is_a', 'has_pharmacologic_class')
),

family as (
    select parent from parent
    group by parent
    having count(*) between 2 and getvariable('family_size')
),

sibling as (
    select distinct
        original.original_cui as cui,
        other.cui as sibling
    from (select distinct original_cui from fact_group) as original
    left join linked_base as base on original.original_cui = base.cui
    inner join parent as own on coalesce(base.base_cui, original.original_cui) = own.cui
    inner join family on own.parent = family.parent
    inner join parent as other on own.parent = other.parent
    inner join kg.concept as own_concept on original.original_cui = own_concept.cui
    inner join kg.concept as other_concept on other.cui = other_concept.cui
    where
        coalesce(base.base_cui, original.original_cui) != other.cui and original.original_cui != other.cui
        and list_has_any(own_concept.groups, other_concept.groups)
)

select
    fact_group.group_id,
    fact_group.hadm_id,
    fact_group.predicate,
    if(fact_group.slot = 'head', sibling.sibling, fact_group.kept_cui) as head_cui,
    if(fact_group.slot = 'head', fact_group.kept_cui, sibling.sibling) as tail_cui,
    sibling.sibling as candidate_cui
from fact_group
inner join sibling on fact_group.original_cui = sibling.cui
inner join statement_name as relative_name on sibling.sibling = relative_name.cui
where
    sibling.sibling != fact_group.kept_cui
    and not exists (
        select 1 from unclear
        where unclear.hadm_id = fact_group.hadm_id and unclear.cui = sibling.sibling
    )
    and (
        not list_contains(getvariable('taxonomic'), fact_group.predicate)
        or (
            plain_class(relative_name.name)
            and not exists (
                select 1 from kg.edge as member
                where
                    fact_group.slot = 'head' and member.predicate = 'has_pharmacologic_class'
                    and member.tail_cui = sibling.sibling
            )
        )
    );
