-- Candidates for the false statements of each group, before it is known whether they are false
-- Grain: one row per group, quadrant and candidate
-- Output: false_candidate(group_id, hadm_id, quadrant, predicate, head_cui, tail_cui, candidate_cui, original_cui)
-- Inputs: fact_group, known_end, unclear, kg.concept
-- Q3: an end of another fact of the same admission that has this predicate, in this place, to something else. Q4: an
--   end that facts of other admissions
--   have in that place, not unclear here; where there are many, each group looks at the bucket that its hash picks, so
--   that work grows with the number of groups. A replacement shares a semantic group with what it replaces. Source:
--   MediEval section 3.1 step 4; DESIGN section 6
create or replace temp table false_candidate as
with place as (
    select distinct
        predicate,
        slot,
        original_cui as cui
    from fact_group
),

sized as (
    select
        *,
        greatest(1, count(*) over (partition by predicate, slot) // getvariable('bucket_size')) as buckets
    from place
),

bucketed as (
    select
        *,
        md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'bucket', cui)) % buckets as bucket
    from sized
),

recombined as (
    select distinct
        fact_group.group_id,
        'Q3' as quadrant,
        other.original_cui as candidate_cui
    from fact_group
    inner join fact_group as other on fact_group.hadm_id = other.hadm_id
    inner join known_end
        on
            fact_group.predicate = known_end.predicate and fact_group.slot = known_end.place
            and other.original_cui = known_end.cui
    where fact_group.fact_id != other.fact_id
),

distant as (
    select
        fact_group.group_id,
        'Q4' as quadrant,
        bucketed.cui as candidate_cui
    from fact_group
    inner join bucketed
        on
            fact_group.predicate = bucketed.predicate and fact_group.slot = bucketed.slot
            and bucketed.bucket
            = md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'pick', fact_group.group_id)) % bucketed.buckets
    where
        not exists (
            select 1 from unclear
            where unclear.hadm_id = fact_group.hadm_id and unclear.cui = bucketed.cui
        )
),

candidate as (
    select * from recombined
    union all
    select * from distant
)

select
    fact_group.group_id,
    fact_group.hadm_id,
    candidate.quadrant,
    fact_group.predicate,
    if(fact_group.slot = 'head', candidate.candidate_cui, fact_group.kept_cui) as head_cui,
    if(fact_group.slot = 'head', fact_group.kept_cui, candidate.candidate_cui) as tail_cui,
    candidate.candidate_cui,
    fact_group.original_cui
from candidate
inner join fact_group on candidate.group_id = fact_group.group_id
inner join kg.concept as original on fact_group.original_cui = original.cui
inner join kg.concept as replacement on candidate.candidate_cui = replacement.cui
where
    candidate.candidate_cui not in (fact_group.original_cui, fact_group.kept_cui)
    and list_has_any(original.groups, replacement.groups);
