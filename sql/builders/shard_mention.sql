-- What the notes and the codes of one shard's admissions may mean
-- Grain: one row per admission and concept. Output: (number, concept, coded)
-- Inputs: admission, mention_concept, ground.unclear_mention, ground.admission_concept, cover_concept. Parameter: shard
with heard as (
    select
        admission.number,
        mention_concept.cui,
        false as coded
    from admission
    inner join mention_concept on admission.hadm_id = mention_concept.hadm_id
    where admission.shard = getvariable('shard')
    union
    select
        admission.number,
        unnest(mention.cuis) as cui,
        false as coded
    from admission
    inner join ground.unclear_mention as mention on admission.note_id = mention.note_id
    where admission.shard = getvariable('shard')
    union
    select
        admission.number,
        admission_concept.cui,
        true as coded
    from admission
    inner join ground.admission_concept as admission_concept on admission.hadm_id = admission_concept.hadm_id
    where admission.shard = getvariable('shard')
)

select
    heard.number::integer as number,
    cover_concept.concept,
    heard.coded
from heard
inner join cover_concept on heard.cui = cover_concept.cui
order by heard.number;
