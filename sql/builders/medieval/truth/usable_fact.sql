-- True facts that may stand in a statement, numbered, with the relation that they state in either direction
-- Grain: one row per (head, predicate, tail)
-- Output: usable_fact(fact, predicate, relation, head_cui, tail_cui, pattern, tier, hops, key, taxonomic, statistical)
-- Inputs: true_fact, statement_name, kg.name, kg.edge, kg.predicate. Parameters: seed, taxonomic
-- key: the part of a group's id that the fact gives. statistical: the tail is no kind of disease but a category of a
--   statistical classification. Classes must have a plain name
create or replace temp table usable_fact as
-- classes that are named like a substance ("sodium") read wrong
with substance as (
    select distinct called.cui
    from kg.name as name
    inner join kg.edge as edge on name.cui = edge.tail_cui
    inner join kg.name as called on name.normalized = called.normalized
    where edge.predicate in ('has_ingredient', 'has_precise_ingredient')
),

-- a class is the tail of such a statement, not its head
drug_class as (
    select distinct tail_cui as cui
    from kg.edge
    where predicate = 'has_pharmacologic_class'
),

statistical as (
    select cui
    from kg.name
    group by cui
    having bool_and(sab in ('CCS', 'CCSR_ICD10CM', 'ICD9CM', 'ICD10', 'ICD10CM', 'ICD10PCS', 'MTHICD9'))
),

named as (
    select
        fact.*,
        list_contains(getvariable('taxonomic'), fact.predicate) as taxonomic,
        statistical.cui is not null as statistical,
        head_name.name as head_name,
        tail_name.name as tail_name,
        substance.cui is not null or drug_class.cui is not null as misread
    from true_fact as fact
    inner join statement_name as head_name on fact.head_cui = head_name.cui
    inner join statement_name as tail_name on fact.tail_cui = tail_name.cui
    left join substance on fact.tail_cui = substance.cui
    left join drug_class on fact.head_cui = drug_class.cui
    left join statistical on fact.tail_cui = statistical.cui
)

select
    row_number() over (order by named.head_cui, named.predicate, named.tail_cui, line.predicate) - 1 as fact,
    named.predicate,
    line.predicate as relation,
    named.head_cui,
    named.tail_cui,
    named.pattern,
    named.tier,
    named.hops,
    left(md5(concat_ws(chr(31), getvariable('seed'), named.head_cui, named.predicate, named.tail_cui)), 12) as key,
    named.taxonomic,
    named.statistical
from named
inner join kg.predicate as line on named.predicate in (line.predicate, line.inverse)
where
    not named.taxonomic
    or (
        plain_class(named.head_name) and plain_class(named.tail_name)
        and not named.misread
        -- "sodium chloride has the class sodium" says nothing
        and not list_has_all(
            string_split(lower(named.head_name), ' '), string_split(lower(named.tail_name), ' ')
        )
    );
