-- True facts of the admissions of one shard: both ends attested in the context, the relation true
-- Grain: one row per admission and pair of bases, in the form and direction that a stable hash picks
-- Output: admission_fact(hadm_id, number, fact), added to
-- Inputs: admission, fact_end, attested, usable_fact. Parameters: shard, taxonomic
-- The two ends rest on different mentions: a drug alone does not make its class mentioned too
-- What is not mentioned itself is an end only as a class, for another member of it than the head
-- Source: MediEval section 3.1 steps 3 and 4; DESIGN section 6 (Q1)
insert into admission_fact
with held as (
    select
        fact_end.*,
        admission.number
    from fact_end
    inner join admission on fact_end.hadm_id = admission.hadm_id
    where admission.shard = getvariable('shard')
),

carrier as (
    select
        attested.hadm_id,
        attested.cui,
        list_sort(list(distinct attested.mention)) as mentions
    from attested
    semi join held on attested.hadm_id = held.hadm_id and attested.cui = held.cui
    group by attested.hadm_id, attested.cui
),

carried_end as (
    select
        held.*,
        carrier.mentions
    from held
    inner join carrier on held.hadm_id = carrier.hadm_id and held.cui = carrier.cui
),

joined as (
    select
        head_end.hadm_id,
        head_end.number,
        fact.fact,
        fact.head_cui,
        fact.predicate,
        fact.tail_cui,
        fact.relation,
        least(head_end.base_cui, tail_end.base_cui) as low_base,
        greatest(head_end.base_cui, tail_end.base_cui) as high_base,
        head_end.closeness + tail_end.closeness as closeness
    from usable_fact as fact
    inner join carried_end as head_end on fact.head_cui = head_end.cui
    inner join carried_end as tail_end on fact.tail_cui = tail_end.cui and head_end.hadm_id = tail_end.hadm_id
    where
        head_end.base_cui != tail_end.base_cui
        and (
            (head_end.closeness < 2 and tail_end.closeness < 2)
            or (fact.taxonomic and head_end.closeness < 2 and not fact.statistical)
        )
        and head_end.mentions != tail_end.mentions
)

select
    hadm_id,
    number,
    fact
from joined
qualify row_number() over (
    partition by hadm_id, low_base, high_base, relation
    order by closeness, unit(concat_ws(chr(31), 'form', hadm_id, head_cui, predicate, tail_cui))
) = 1;
