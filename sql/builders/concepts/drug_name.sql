-- Names of drugs in the release that some drug name of the records could mean
-- Grain: one row per (form, node)
-- Inputs: drug_variant, rxnorm_node, release.mrconso, release.mrsty, concept_type (builders/data/concept_types.tsv)
-- Output: temporary table drug_name(form, sorted_form, node, rank), the lowest rank of a node's names
-- Caveat: RxNorm's own names of ingredients, salts, combinations and brands go before its other names, and these
--   before names from other vocabularies; withdrawn names come last. Dose forms are no drugs.
-- Source: RxNorm technical documentation (term types)
create or replace temp table drug_name as
with dose_form as (
    select distinct node
    from rxnorm_node
    where tty in ('DF', 'DFG', 'ET')
),

class as (
    select
        node,
        min(case tty when 'IN' then 1 when 'PIN' then 2 when 'MIN' then 3 when 'BN' then 4 when 'PT' then 5 else 6 end)
            as class
    from rxnorm_node
    group by node
),

name as (
    select
        plain_name(n.name) as form,
        n.node,
        case
            when n.tty in ('IN', 'PIN', 'MIN', 'BN') then c.class
            else 4 + c.class
        end + 20 * n.suppressed::integer as rank
    from rxnorm_node as n
    inner join class as c on n.node = c.node
    union all
    select
        plain_name(m.str) as form,
        m.cui as node,
        10 + coalesce(c.class, 7) + 20 * (coalesce(m.suppress, 'N') <> 'N')::integer as rank
    from release.mrconso as m
    left join class as c on m.cui = c.node
    where
        m.lat = 'ENG' and m.sab <> 'RXNORM'
        and m.cui in (
            select s.cui
            from release.mrsty as s
            inner join concept_type as t on s.tui = t.tui
            where t.kind = 'drug'
        )
),

-- "a / b" and "b-a" are one combination: the words in order of the alphabet tell them. What agrees with a form of the
-- records as it stands agrees with it in this order too, so that one look is enough.
sorted as (
    select
        form,
        array_to_string(list_sort(string_split(form, ' ')), ' ') as sorted_form,
        node,
        rank
    from name
)

select
    form,
    sorted_form,
    node,
    min(rank) as rank
from sorted
where
    sorted_form in (select v.sorted_form from drug_variant as v)
    and node not in (select d.node from dose_form as d)
group by all;
