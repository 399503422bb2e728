-- True facts of each admission: both ends attested in the context, the relation true
-- Grain: one row per admission and pair of bases, in the form and direction that a stable hash picks
-- Output: admission_fact(hadm_id, predicate, head_cui, tail_cui, pattern, tier, hops)
-- The two ends rest on different mentions: a drug alone does not make its class mentioned too
-- What is not mentioned itself is an end only as a class, for another member of it than the head; classes must have a
--   plain name
-- Inputs: fact_end, attested, statement_name, true_fact(head_cui, predicate, tail_cui, pattern, tier, hops),
--   kg.predicate
-- Source: MediEval section 3.1 steps 3 and 4; DESIGN section 6 (Q1)
create or replace temp table admission_fact as
with carrier as (
    select
        hadm_id,
        cui,
        list(distinct mention) as mentions
    from attested
    group by hadm_id, cui
),

-- classes that are named like a substance ("sodium") read wrong
substance as (
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

-- categories of statistical classifications are no kinds of disease
statistical as (
    select cui
    from kg.name
    group by cui
    having bool_and(sab in ('CCS', 'CCSR_ICD10CM', 'ICD9CM', 'ICD10', 'ICD10CM', 'ICD10PCS', 'MTHICD9'))
),

joined as (
    select
        head_end.hadm_id,
        fact.*,
        least(head_end.base_cui, tail_end.base_cui) as low_base,
        greatest(head_end.base_cui, tail_end.base_cui) as high_base,
        head_end.closeness + tail_end.closeness as closeness
    from true_fact as fact
    inner join fact_end as head_end on fact.head_cui = head_end.cui
    inner join fact_end as tail_end on fact.tail_cui = tail_end.cui and head_end.hadm_id = tail_end.hadm_id
    inner join statement_name as head_name on fact.head_cui = head_name.cui
    inner join statement_name as tail_name on fact.tail_cui = tail_name.cui
    left join substance on fact.tail_cui = substance.cui
    left join drug_class on fact.head_cui = drug_class.cui
    left join statistical on fact.tail_cui = statistical.cui
    inner join carrier as head_carrier
        on head_end.hadm_id = head_carrier.hadm_id and head_end.cui = head_carrier.cui
    inner join carrier as tail_carrier
        on tail_end.hadm_id = tail_carrier.hadm_id and tail_end.cui = tail_carrier.cui
    where
        head_end.base_cui != tail_end.base_cui
        and (
            (head_end.closeness < 2 and tail_end.closeness < 2)
            or (
                list_contains(getvariable('taxonomic'), fact.predicate)
                and head_end.closeness < 2 and statistical.cui is null
            )
        )
        and (
            not list_contains(getvariable('taxonomic'), fact.predicate)
            or (
                plain_class(head_name.name) and plain_class(tail_name.name)
                and substance.cui is null and drug_class.cui is null
                -- "sodium chloride has the class sodium" says nothing
                and not list_has_all(
                    string_split(lower(head_name.name), ' '), string_split(lower(tail_name.name), ' ')
                )
            )
        )
        and not (
            list_has_all(head_carrier.mentions, tail_carrier.mentions)
            and list_has_all(tail_carrier.mentions, head_carrier.mentions)
        )
),

ranked as (
    select
        *,
        row_number() over (
            partition by hadm_id, low_base, high_base, relation
            order by closeness, unit(concat_ws(chr(31), 'form', hadm_id, head_cui, predicate, tail_cui))
        ) as choice
    from (
        select
            joined.*,
            predicate_line.predicate as relation
        from joined
        inner join kg.predicate as predicate_line
            on joined.predicate in (predicate_line.predicate, predicate_line.inverse)
    ) as related
)

select
    hadm_id,
    predicate,
    head_cui,
    tail_cui,
    pattern,
    tier,
    hops
from ranked
where choice = 1;
