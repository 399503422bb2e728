-- What the notes and the codes of each admission may mean
-- Grain: one row per admission, concept and whether a code says so
-- Output: heard(number, concept, coded)
-- Inputs: admission, ground.mention, ground.unclear_mention, ground.admission_concept, cover_concept
-- All notes of the admission, not only the one that is shown: an addendum can speak of what the summary leaves out
create or replace temp table heard as
with said as (
    select
        admission.number,
        unnest(mention.cuis) as cui,
        false as coded
    from ground.mention as mention
    inner join admission on mention.hadm_id = admission.hadm_id
    union
    select
        admission.number,
        unnest(mention.cuis) as cui,
        false as coded
    from ground.unclear_mention as mention
    inner join admission on mention.hadm_id = admission.hadm_id
    union
    select
        admission.number,
        admission_concept.cui,
        true as coded
    from ground.admission_concept as admission_concept
    inner join admission on admission_concept.hadm_id = admission.hadm_id
)

select
    said.number,
    cover_concept.concept,
    said.coded
from said
inner join cover_concept on said.cui = cover_concept.cui
-- by admission, so that a shard reads its own part only
order by said.number;
