-- What the builder left out, by reason
-- Grain: one row per reason. Output: (reason, n). Inputs: the builder's tables. Parameters: near_pairs, named_only,
--   facts_without (for Q2, Q3 and Q4), which the passes over the admissions count
with reason as (
    select
        'patient without a discharge summary' as reason,
        count(*) as n
    from ehr.patient
    where
        subject_id not in (
            select note.subject_id from ehr.discharge_note as note
            where note.hadm_id is not null
        )
    union all
    select
        'patient whom build.admissions did not draw' as reason,
        count(distinct note.subject_id) as n
    from ehr.discharge_note as note
    where note.hadm_id is not null and note.subject_id not in (select cohort.subject_id from cohort)
    union all
    select
        'further admission of a patient who is in' as reason,
        count(distinct note.hadm_id) as n
    from ehr.discharge_note as note
    inner join cohort on note.subject_id = cohort.subject_id and note.hadm_id <> cohort.hadm_id
    union all
    select
        'note without a section of the context' as reason,
        count(*) as n
    from cohort
    where cohort.hadm_id not in (select context_piece.hadm_id from context_piece)
    union all
    select
        'admission without a true fact between attested ends' as reason,
        count(*) as n
    from cohort
    where cohort.hadm_id not in (select admission_fact.hadm_id from admission_fact)
    union all
    select
        concat('mention in the context is not attesting: ', assertion) as reason,
        count(*) as n
    from mention_concept
    where in_context and not list_contains(getvariable('assertions'), assertion) and position = 1
    group by assertion
    union all
    select
        'mention in the context is ambiguous' as reason,
        count(*) - (
            select count(*) from present_mention
            where present_mention.position = 1
        ) as n
    from mention_concept
    where
        in_context and list_contains(getvariable('assertions'), assertion) and position = 1
        and list_contains(getvariable('certainties'), certainty)
    union all
    select
        'mention in the context is unsure' as reason,
        count(*) as n
    from mention_concept
    where
        in_context and list_contains(getvariable('assertions'), assertion) and position = 1
        and not list_contains(getvariable('certainties'), certainty)
    union all
    select
        'true pair stands alone in the graph' as reason,
        count(*) as n
    from first_isolated
    union all
    select
        concat('not called false: ', reason) as reason,
        sum(n) as n
    from false_reason
    group by reason
    union all
    select
        'replacement is named in the text of a note, though no mention or code means it' as reason,
        getvariable('named_only') as n
    union all
    select
        'distractor is too close' as reason,
        getvariable('near_pairs') as n
    union all
    select
        concat('fact without a statement for Q', quadrant.number) as reason,
        getvariable('facts_without')[quadrant.number - 1] as n
    from (values (2), (3), (4)) as quadrant (number)
    union all
    select
        'complete group above the limits of an admission, predicate or pair' as reason,
        (select count(*) from completed_group) - (select count(*) from limited_group) as n
    union all
    select
        'complete group that would only repeat statements of its admission' as reason,
        (select count(*) from limited_group) - (select count(distinct choice.group_id) from choice) as n
)

select
    reason,
    n
from reason
where n > 0
order by reason;
