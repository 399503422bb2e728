-- What the builder left out, by reason
-- Grain: one row per reason. Output: (reason, n). Inputs: the builder's tables
with reason as (
    select
        'patient without a discharge summary' as reason,
        count(*) as n
    from mimiciv_hosp.patients
    where subject_id not in (select cohort.subject_id from cohort)
    union all
    select
        'further admission of a patient who is in' as reason,
        count(distinct note.hadm_id) as n
    from mimiciv_note.discharge as note
    where note.hadm_id is not null and note.hadm_id not in (select cohort.hadm_id from cohort)
    union all
    select
        'note without a section of the context' as reason,
        count(*) as n
    from cohort
    where cohort.hadm_id not in (select context.hadm_id from context)
    union all
    select
        'admission without a true fact between attested ends' as reason,
        count(*) as n
    from cohort
    where cohort.hadm_id not in (select admission_fact.hadm_id from admission_fact)
    union all
    select
        concat('mention in the context is not attesting: ', assertion) as reason,
        count(distinct row(note_id, mention)) as n
    from mention_concept
    where in_context and assertion != 'present'
    group by assertion
    union all
    select
        'mention in the context is ambiguous' as reason,
        count(distinct row(mention_concept.note_id, mention_concept.mention)) as n
    from mention_concept
    left join clear_mention
        on mention_concept.note_id = clear_mention.note_id and mention_concept.mention = clear_mention.mention
    where mention_concept.in_context and mention_concept.assertion = 'present' and clear_mention.mention is null
    union all
    select
        'true pair stands alone in the graph' as reason,
        count(*) as n
    from first_isolated
    union all
    select
        concat('not called false: ', reason) as reason,
        count(*) as n
    from false_check
    where reason is not null
    group by reason
    union all
    select
        'distractor is too close' as reason,
        count(*) as n
    from (
        select distinct
            candidate.original_cui,
            candidate.candidate_cui
        from false_candidate as candidate
        inner join false_check
            on
                candidate.predicate = false_check.predicate and candidate.head_cui = false_check.head_cui
                and candidate.tail_cui = false_check.tail_cui
        left join far
            on candidate.original_cui = far.original_cui and candidate.candidate_cui = far.candidate_cui
        where candidate.quadrant = 'Q4' and false_check.reason is null and far.original_cui is null
    ) as near_pair
    union all
    select
        concat('fact without a statement for ', quadrant.quadrant) as reason,
        count(*) as n
    from (select distinct fact_id from first_group) as fact
    cross join (values ('Q2'), ('Q3'), ('Q4')) as quadrant (quadrant)
    where
        not exists (
            select 1 from candidate
            inner join first_group on candidate.group_id = first_group.group_id
            where first_group.fact_id = fact.fact_id and candidate.quadrant = quadrant.quadrant
        )
    group by quadrant.quadrant
    union all
    select
        'complete group above the limits of an admission, predicate or pair' as reason,
        (
            select count(distinct first_group.fact_id) from first_group
            where first_group.completed
        )
        - (select count(distinct choice.group_id) from choice) as n
)

select
    reason,
    n
from reason
where n > 0
order by reason;
