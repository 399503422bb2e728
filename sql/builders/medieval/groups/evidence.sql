-- What the notes and the codes of each admission may mean
-- Grain: one row per admission, concept and whether a code says so
-- Output: evidence(number, concept, from_code)
-- Inputs: admission, ground.mention, ground.unclear_mention, ground.admission_concept, cover_concept
-- All notes of the admission, not only the one that is shown: an addendum can speak of what the summary leaves out
create or replace temp table evidence as
with mention as (
    select
        hadm_id,
        cuis
    from ground.mention
    union all
    select
        hadm_id,
        cuis
    from ground.unclear_mention
),

meant as (
    select
        admission.number,
        unnest(mention.cuis) as cui,
        false as from_code
    from mention
    inner join admission on mention.hadm_id = admission.hadm_id
    union
    select
        admission.number,
        admission_concept.cui,
        true as from_code
    from ground.admission_concept as admission_concept
    inner join admission on admission_concept.hadm_id = admission.hadm_id
)

select
    meant.number,
    cover_concept.concept,
    meant.from_code
from meant
inner join cover_concept on meant.cui = cover_concept.cui
-- by admission, so that a shard reads its own part only
order by meant.number;
