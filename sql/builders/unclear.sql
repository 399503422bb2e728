-- Concepts that must not be called unattested in an admission: the note or the codes may mean them
-- Grain: one row per admission and concept
-- Output: unclear(hadm_id, cui)
-- Inputs: mention_concept, closure, cohort, ground.unclear_mention, ground.admission_concept
-- Any mention of the whole note, also those read without being asserted, with any assertion and any candidate,
--   covers its concept, equivalents, ancestors,
--   descendants within two steps, and combinations or ingredients; a code covers the same without descendants. Source:
--   DESIGN
--   section 5
create or replace temp table unclear as
select distinct
    mention_concept.hadm_id,
    closure.other as cui
from mention_concept
inner join closure on mention_concept.cui = closure.cui
where closure.relation != 'descendant' or closure.depth <= 2
union
select distinct
    read_mention.hadm_id,
    closure.other as cui
from (
    select
        cohort.hadm_id,
        unnest(mention.cuis) as cui
    from cohort
    inner join ground.unclear_mention as mention on cohort.note_id = mention.note_id
) as read_mention
inner join closure on read_mention.cui = closure.cui
where closure.relation != 'descendant' or closure.depth <= 2
union
select distinct
    cohort.hadm_id,
    closure.other as cui
from cohort
inner join ground.admission_concept as coded on cohort.hadm_id = coded.hadm_id
inner join closure on coded.cui = closure.cui
where closure.relation != 'descendant';
