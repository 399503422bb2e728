-- Pairs of ends that the workspace's own patients have together more often than chance, or whose notes link them
-- Grain: one row per pair and reason. Output: together(head_cui, tail_cui, reason)
-- Inputs: asked_claim, closure, records.admission, records.admission_concept, records.mention, records.segment
-- Parameters: max_lift, fewest_together, linked_share (builders/medieval/records.py)
-- Source: docs/definitions.md#lift, #linked
create or replace temp table together as
with meant as (
    select
        closure.cui,
        closure.other as end_cui
    from closure
    where
        closure.relation in ('self', 'equivalent', 'ancestor')
        and closure.other in (
            select head_cui from asked_claim
            union
            select tail_cui from asked_claim
        )
),

spoken as (
    select
        mention.hadm_id,
        mention.note_id,
        mention.begin_offset,
        meant.end_cui
    from (
        select
            hadm_id,
            note_id,
            begin_offset,
            unnest(cuis) as cui
        from records.mention
    ) as mention
    inner join meant on mention.cui = meant.cui
),

held as (
    select
        admission.subject_id,
        told.hadm_id,
        told.end_cui
    from (
        select
            hadm_id,
            end_cui
        from spoken
        union
        select
            record.hadm_id,
            meant.end_cui
        from records.admission_concept as record
        inner join meant on record.cui = meant.cui
    ) as told
    inner join records.admission as admission on told.hadm_id = admission.hadm_id
),

alone as (
    select
        end_cui,
        count(distinct subject_id) as n
    from held
    group by end_cui
),

claim as (
    select distinct
        head_cui,
        tail_cui
    from asked_claim
),

patient as (
    select distinct
        subject_id,
        end_cui
    from held
),

both_ends as (
    select
        claim.head_cui,
        claim.tail_cui,
        count(*) as patients
    from claim
    inner join patient as head on claim.head_cui = head.end_cui
    inner join patient as tail on claim.tail_cui = tail.end_cui and head.subject_id = tail.subject_id
    group by claim.head_cui, claim.tail_cui
),

same_stay as (
    select
        claim.head_cui,
        claim.tail_cui,
        count(*) as n
    from claim
    inner join held as head on claim.head_cui = head.end_cui
    inner join held as tail on claim.tail_cui = tail.end_cui and head.hadm_id = tail.hadm_id
    group by claim.head_cui, claim.tail_cui
),

every_patient as (
    select count(distinct admission.subject_id) as n
    from (
        select hadm_id from records.mention
        union
        select hadm_id from records.admission_concept
    ) as known
    inner join records.admission as admission on known.hadm_id = admission.hadm_id
),

placed as (
    select
        spoken.*,
        segment.begin_offset as segment,
        segment.block,
        segment.kind = 'heading' as in_heading
    from spoken
    asof inner join records.segment as segment
        on spoken.note_id = segment.note_id and spoken.begin_offset >= segment.begin_offset
),

linked as (
    select
        claim.head_cui,
        claim.tail_cui,
        count(distinct head.hadm_id) as n
    from asked_claim as claim
    inner join placed as head on claim.head_cui = head.end_cui
    inner join placed as tail
        on
            claim.tail_cui = tail.end_cui and head.note_id = tail.note_id and head.begin_offset != tail.begin_offset
            and (head.segment = tail.segment or (head.block = tail.block and (head.in_heading or tail.in_heading)))
    group by claim.head_cui, claim.tail_cui
)

select
    both_ends.head_cui,
    both_ends.tail_cui,
    'the ends are over-represented together in the records' as reason
from both_ends
inner join alone as head on both_ends.head_cui = head.end_cui
inner join alone as tail on both_ends.tail_cui = tail.end_cui
cross join every_patient
where
    both_ends.patients >= getvariable('fewest_together')
    and both_ends.patients * every_patient.n / (head.n * tail.n) > getvariable('max_lift')
union all
select
    linked.head_cui,
    linked.tail_cui,
    'a note links the ends' as reason
from linked
inner join same_stay on linked.head_cui = same_stay.head_cui and linked.tail_cui = same_stay.tail_cui
where getvariable('linked_share') * linked.n >= same_stay.n;
