-- True facts of each admission: both ends attested in the context, the relation true
-- Grain: one row per admission and pair of bases, in the form and direction that a stable hash picks
-- Output: admission_fact(hadm_id, predicate, head_cui, tail_cui, pattern, tier, hops)
-- Inputs: fact_end, true_fact(head_cui, predicate, tail_cui, pattern, tier, hops), kg.predicate
-- Source: MediEval section 3.1 steps 3 and 4; DESIGN section 6 (Q1)
create or replace temp table admission_fact as
with joined as (
    select
        head_end.hadm_id,
        fact.*,
        least(head_end.base_cui, tail_end.base_cui) as low_base,
        greatest(head_end.base_cui, tail_end.base_cui) as high_base,
        head_end.closeness + tail_end.closeness as closeness
    from true_fact as fact
    inner join fact_end as head_end on fact.head_cui = head_end.cui
    inner join fact_end as tail_end on fact.tail_cui = tail_end.cui and head_end.hadm_id = tail_end.hadm_id
    where head_end.base_cui != tail_end.base_cui
),

ranked as (
    select
        *,
        row_number() over (
            partition by hadm_id, low_base, high_base, least(predicate, inverse)
            order by closeness, unit(concat_ws(chr(31), 'form', hadm_id, head_cui, predicate, tail_cui))
        ) as choice
    from (
        select
            joined.*,
            predicate_line.inverse
        from joined
        inner join kg.predicate as predicate_line on joined.predicate = predicate_line.predicate
    )
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
