-- Semantic types of concepts that UMLS does not have, by the branch in which their classes stand
-- Grain: one row per concept and type
-- Inputs: live_class, ontology.class, ontology.relation, branch_type (kg/data/branch_types.tsv), umls_type,
--   rxnorm_type, semantic_type
-- Output: ontology.mrsty with columns of MRSTY. A branch that is nearer counts instead of the one above it; a class
--   above counts instead of how an identifier begins; of a class known by its name alone nothing counts where another
--   class of the concept has a type. Source: kg/data/branch_types.tsv
create or replace table ontology.mrsty as
with recursive below as (
    select
        branch as id,
        branch
    from branch_type
    where not ends_with(branch, '*')
    union
    select
        relation.head as id,
        below.branch
    from ontology.relation as relation
    inner join below on relation.tail = below.id
    where relation.property = 'isa'
),

nearest as (
    select below.*
    from below
    anti join (
        select
            lower_part.id,
            upper_part.branch
        from below as lower_part
        inner join below as upper_part on lower_part.branch = upper_part.id and upper_part.branch <> upper_part.id
    ) as farther on below.id = farther.id and below.branch = farther.branch
),

placed as (
    select distinct
        class.id,
        unnest(string_split(if(class.branch = '', class.id, class.branch), ' | ')) as branch
    from ontology.class as class
),

begun as (
    select
        placed.id,
        line.tui
    from placed
    inner join branch_type as line
        on ends_with(line.branch, '*') and starts_with(placed.branch, rtrim(line.branch, '*'))
    qualify length(line.branch) = max(length(line.branch)) over (partition by placed.id, placed.branch)
    union
    select
        id,
        substr(branch, 5) as tui
    from placed
    where starts_with(branch, 'STY:')
),

typed as (
    select
        nearest.id,
        line.tui
    from nearest
    inner join branch_type as line on nearest.branch = line.branch
    union
    select
        id,
        tui
    from begun
    where id not in (select near.id from nearest as near)
),

every as (
    select
        class.cui,
        typed.tui,
        class.stub
    from typed
    inner join live_class as class on typed.id = class.id
    union
    select
        *,
        false as stub
    from rxnorm_type
)

select distinct
    every.cui,
    every.tui,
    semantic.name as sty
from every
inner join semantic_type as semantic on every.tui = semantic.tui
where
    every.cui not in (select known.cui from umls_type as known)
    and (not every.stub or every.cui not in (
        select sure.cui
        from every as sure
        where not sure.stub
    ))
order by every.cui, every.tui;
