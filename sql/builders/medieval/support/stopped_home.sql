-- Home drugs that the note itself stops or holds: they are discontinued, also where a list of home drugs has them
-- Grain: one row per mention and candidate CUI of mention_concept, whose assertion it changes
-- Output: the assertion in mention_concept. Inputs: mention_concept, admission, ground.mention, closure, class_member,
--   kg.concept. Parameters: assertions, certainties, home_sections (lists)
-- A note stops a drug if a mention of any form of it, of a combination with it or in it, or of a class that it is of is
--   discontinued, or may be so (reason `stopped`) in a home section or without a record that speaks for it. Medications
--   without more ("home meds") are any drug; what else has no concept, such as a brand that the release lacks, is only
--   itself. It leaves a drug open if all that it says of its forms outside of the home sections attests nothing
--   ("metformin to be restarted by the PCP"). The note goes on with a drug if a mention outside of the home sections
--   attests a form of it: then all counts as before. Without home sections nothing changes.
-- Source: docs/definitions.md#attested
create or replace temp table stopped_home as
with said as (
    select
        admission.number,
        mention.begin_offset as mention,
        len(mention.cuis) = 0 as is_any,
        unnest(if(len(mention.cuis) = 0, [lower(mention.text)], mention.cuis)) as cui,
        list_contains(getvariable('home_sections')::varchar[], mention.section) as is_home,
        mention.assertion = 'discontinued'
        or (
            list_contains(mention.reasons, 'stopped') and (mention.certainty = 'unsure' or is_home) and not is_any
        ) as stops,
        list_contains(getvariable('assertions'), mention.assertion)
        and list_contains(getvariable('certainties'), mention.certainty) as attests,
        stops or not (is_home or is_any or attests) as doubts
    from ground.mention as mention
    inner join admission on mention.note_id = admission.note_id
    where len(mention.cuis) > 0 or regexp_matches(mention.text, '\b(meds|medications|medicines)$', 'i')
),

-- all forms of a drug have the same forms: the first stands for all
substance as (
    select
        closure.cui,
        min(closure.other) as first_form
    from closure
    inner join kg.concept as concept on closure.cui = concept.cui
    where closure.relation in ('self', 'equivalent') and list_contains(concept.groups, 'CHEM')
    group by closure.cui
),

drug as (
    select
        said.*,
        coalesce(substance.first_form, said.cui) as first_form
    from said
    left join substance on said.cui = substance.cui
    where substance.cui is not null or said.is_any
),

going_on as (
    select distinct
        number,
        first_form
    from drug
    where attests and not doubts and not is_home
),

ended as (
    select
        drug.number,
        drug.cui,
        drug.is_any,
        bool_or(drug.stops) as spreads
    from drug
    anti join going_on on drug.number = going_on.number and drug.first_form = going_on.first_form
    where drug.doubts
    group by drug.number, drug.cui, drug.is_any
),

wider as (
    select
        cui,
        other,
        relation in ('self', 'equivalent') as is_form
    from closure
    where
        relation in ('self', 'equivalent', 'composition', 'ancestor') and other in (select ended.cui from ended)
    union
    select
        other as cui,
        cui as other,
        false as is_form
    from class_member
    where cui in (select ended.cui from ended)
),

ended_home as (
    select
        ended.number,
        wider.cui
    from ended
    inner join wider on ended.cui = wider.other
    where ended.spreads or wider.is_form
    union
    select
        ended.number,
        drug.cui
    from ended
    inner join drug on ended.number = drug.number
    where ended.is_any
)

select distinct
    drug.number,
    drug.mention
from drug
semi join ended_home on drug.number = ended_home.number and drug.cui = ended_home.cui
anti join going_on on drug.number = going_on.number and drug.first_form = going_on.first_form
where drug.is_home and drug.attests and not drug.is_any;

update mention_concept
set assertion = 'discontinued'
from stopped_home
where mention_concept.number = stopped_home.number and mention_concept.mention = stopped_home.mention;
