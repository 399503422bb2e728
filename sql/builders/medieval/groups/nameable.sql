-- Concepts that statements can name, numbered: ends of facts first, in the order of CUIs; with what is often asked of
--   each
-- Grain: one row per concept
-- Output: nameable(code, cui, is_end, mask, names_class, has_members)
-- Inputs: frame, sibling, kg.concept, kg.edge, statement_name
-- mask: semantic groups, a bit each; 0 for none. is_end: an end of a fact; the others are siblings only
-- names_class, has_members: whether a class can be named in a sentence, and whether drugs have it as their class
create or replace temp table nameable as
with wanted as (
    select
        cui,
        bool_or(is_end) as is_end
    from (
        select
            frame.original_cui as cui,
            true as is_end
        from frame
        union all
        select
            sibling.sibling as cui,
            false as is_end
        from sibling
    ) as either
    group by cui
),

bit as (
    select
        semantic_group,
        1::bigint << (row_number() over (order by semantic_group) - 1)::integer as mask
    from (select distinct unnest(concept.groups) as semantic_group from kg.concept as concept) as every_group
),

masked as (
    select
        grouped.cui,
        sum(bit.mask)::bigint as mask
    from (
        select
            concept.cui,
            unnest(list_distinct(concept.groups)) as semantic_group
        from kg.concept as concept
        where concept.cui in (select wanted.cui from wanted)
    ) as grouped
    inner join bit on grouped.semantic_group = bit.semantic_group
    group by grouped.cui
)

select
    (row_number() over (order by wanted.is_end desc, wanted.cui asc) - 1)::integer as code,
    wanted.cui,
    wanted.is_end,
    coalesce(masked.mask, 0) as mask,
    statement_name.cui is not null and plain_class(statement_name.name) as names_class,
    wanted.cui in (
        select edge.tail_cui from kg.edge as edge
        where edge.predicate = 'has_pharmacologic_class'
    ) as has_members
from wanted
left join masked on wanted.cui = masked.cui
left join statement_name on wanted.cui = statement_name.cui;
