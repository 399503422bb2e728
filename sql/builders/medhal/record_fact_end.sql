-- What the graph and the records say of each statement, found from its ends to the mentions
-- Second road: shares no rules and no word tables with builders/medhal/facts.py and record_fact.sql
-- Grain: one row per statement of the dataset
-- Output: record_fact_end. Inputs: labelled (the rows of the dataset), related_pair, attesting, unclear_by,
--   ground.mention, ground.unclear_mention, ground.admission_concept. Parameters: tiers, sections, assertions,
--   certainties
-- is_stated: a path of the tiers that make true says it; is_related: any path relates the two, either way
-- *_texts: the words of the present mentions in the context's sections that document an end, each once; null where
--   there is none. *_silent: no mention of the whole note and no code may mean the end.
--   Source: docs/definitions.md#not-attested
create or replace temp table record_fact_end as
with present_word as (
    select
        mention.hadm_id,
        mention.text,
        unnest(mention.cuis) as cui
    from ground.mention as mention
    where
        list_contains(getvariable('assertions'), mention.assertion)
        and list_contains(getvariable('certainties'), mention.certainty)
        and list_contains(getvariable('sections'), mention.section)
),

any_word as (
    select
        mention.hadm_id,
        unnest(mention.cuis) as cui
    from ground.mention as mention
    union
    select
        mention.hadm_id,
        unnest(mention.cuis) as cui
    from ground.unclear_mention as mention
),

documented as (
    select
        present_word.hadm_id,
        attesting.cui,
        list(distinct present_word.text order by present_word.text) as texts
    from present_word
    inner join attesting on present_word.cui = attesting.mentioned
    group by present_word.hadm_id, attesting.cui
),

heard as (
    select
        any_word.hadm_id,
        unclear_by.cui
    from any_word
    inner join unclear_by on any_word.cui = unclear_by.mentioned
    union
    select
        coded.hadm_id,
        unclear_by.cui
    from ground.admission_concept as coded
    inner join unclear_by on coded.cui = unclear_by.mentioned and unclear_by.by_code
),

stated as (
    select distinct
        head_cui,
        predicate,
        tail_cui
    from related_pair
    where list_contains(getvariable('tiers'), tier)
),

related as (
    select distinct
        least(head_cui, tail_cui) as one_cui,
        greatest(head_cui, tail_cui) as other_cui
    from related_pair
)

select
    labelled.id,
    labelled.subject_id,
    labelled.hadm_id,
    labelled.predicate,
    labelled.head_cui,
    labelled.tail_cui,
    labelled.head_name,
    labelled.tail_name,
    labelled.replaced_end,
    stated.head_cui is not null as is_stated,
    related.one_cui is not null as is_related,
    head_documented.texts as head_texts,
    tail_documented.texts as tail_texts,
    head_heard.cui is null as head_silent,
    tail_heard.cui is null as tail_silent
from labelled
left join stated
    on
        labelled.head_cui = stated.head_cui and labelled.predicate = stated.predicate
        and labelled.tail_cui = stated.tail_cui
left join related
    on
        least(labelled.head_cui, labelled.tail_cui) = related.one_cui
        and greatest(labelled.head_cui, labelled.tail_cui) = related.other_cui
left join documented as head_documented
    on labelled.hadm_id = head_documented.hadm_id and labelled.head_cui = head_documented.cui
left join documented as tail_documented
    on labelled.hadm_id = tail_documented.hadm_id and labelled.tail_cui = tail_documented.cui
left join heard as head_heard
    on labelled.hadm_id = head_heard.hadm_id and labelled.head_cui = head_heard.cui
left join heard as tail_heard
    on labelled.hadm_id = tail_heard.hadm_id and labelled.tail_cui = tail_heard.cui
-- In the order in which pairs come, so that a batch touches few row groups
order by labelled.subject_id, labelled.id;
