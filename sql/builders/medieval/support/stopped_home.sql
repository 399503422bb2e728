-- Home drugs that the note itself stops or holds: they are discontinued, also where a list of home drugs has them
-- Grain: one row per mention and candidate CUI of mention_concept, whose assertion it changes
-- Output: the assertion in mention_concept. Inputs: mention_concept, admission, ground.mention, closure, kg.concept.
--   Parameters: assertions, certainties, home_sections (lists)
-- A note stops a drug if a mention of any form of it is discontinued, or may be so (reason `stopped`) in a home section
--   or without a record that speaks for it. It goes on with the drug if a mention outside of the home sections attests
--   a form of it and does not stop it: then all counts as before. Without home sections nothing changes.
--   Source: docs/definitions.md#attested
create or replace temp table stopped_home as
with drug as (
    select
        admission.number,
        mention.begin_offset as mention,
        unnest(mention.cuis) as cui,
        list_contains(getvariable('home_sections')::varchar[], mention.section) as is_home,
        mention.assertion = 'discontinued'
        or (list_contains(mention.reasons, 'stopped') and (mention.certainty = 'unsure' or is_home)) as stops,
        list_contains(getvariable('assertions'), mention.assertion)
        and list_contains(getvariable('certainties'), mention.certainty) as attests
    from ground.mention as mention
    inner join admission on mention.note_id = admission.note_id
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

ended as (
    select
        drug.number,
        substance.first_form
    from drug
    inner join substance on drug.cui = substance.cui
    group by drug.number, substance.first_form
    having bool_or(drug.stops) and not bool_or(drug.attests and not drug.is_home and not drug.stops)
)

select distinct
    drug.number,
    drug.mention
from drug
inner join substance on drug.cui = substance.cui
semi join ended on drug.number = ended.number and substance.first_form = ended.first_form
where drug.is_home and drug.attests;

update mention_concept
set assertion = 'discontinued'
from stopped_home
where mention_concept.number = stopped_home.number and mention_concept.mention = stopped_home.mention;
