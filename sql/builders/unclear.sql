-- Concepts that must not be called unattested in an admission: the note or the codes may mean them
-- Grain: one row per admission and concept
-- Output: unclear(hadm_id, cui)
-- Inputs: mention_concept, closure, namesake, namesake_closure, class_member, cohort, ground.unclear_mention,
--   ground.admission_concept
-- Any mention of the whole note, also those read without being asserted, with any assertion and any candidate,
--   covers its concept, equivalents, ancestors, descendants within two steps, members of a class of drugs, and
--   combinations or ingredients; a code covers the same without descendants and members. What is called alike is
--   covered like the concept itself. Source: DESIGN section 5
create or replace temp table unclear as
with mentioned as (
    select distinct
        hadm_id,
        cui
    from mention_concept
    union
    select distinct
        read_mention.hadm_id,
        read_mention.cui
    from (
        select
            cohort.hadm_id,
            unnest(mention.cuis) as cui
        from cohort
        inner join ground.unclear_mention as mention on cohort.note_id = mention.note_id
    ) as read_mention
),

coded as (
    select distinct
        cohort.hadm_id,
        admission_concept.cui
    from cohort
    inner join ground.admission_concept as admission_concept on cohort.hadm_id = admission_concept.hadm_id
),

covered as (
    select
        closure.cui,
        closure.other,
        closure.relation != 'descendant' as by_code
    from closure
    where closure.relation != 'descendant' or closure.depth <= 2
    union all
    select
        closure.cui,
        namesake.other,
        true as by_code
    from closure
    inner join namesake on closure.other = namesake.cui
    where closure.relation in ('self', 'equivalent', 'ancestor')
    union all
    select
        namesake.cui,
        closure.other,
        closure.relation != 'descendant' as by_code
    from namesake
    inner join namesake_closure as closure on namesake.other = closure.cui
    where closure.relation != 'descendant' or closure.depth <= 2
    union all
    select
        class_member.cui,
        class_member.other,
        false as by_code
    from class_member
),

distinct_cover as (
    select
        covered.cui,
        covered.other,
        bool_or(covered.by_code) as by_code
    from covered
    group by covered.cui, covered.other
)

select
    mentioned.hadm_id,
    distinct_cover.other as cui
from mentioned
inner join distinct_cover on mentioned.cui = distinct_cover.cui
union
select
    coded.hadm_id,
    distinct_cover.other as cui
from coded
inner join distinct_cover on coded.cui = distinct_cover.cui
where distinct_cover.by_code;
