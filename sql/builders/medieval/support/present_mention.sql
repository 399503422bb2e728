-- Mentions of the context that attest what they mean: clear ones that are present, and surely so
-- Grain: one row per mention and candidate CUI
-- Output: present_mention(number, hadm_id, mention, segment, block, in_heading, cui, position)
-- Inputs: mention_concept, clear_mention, kg.concept. Parameters: assertions, certainties (lists)
-- Nearly in the order of mention_concept, so that a shard reads few rows of others
-- Source: docs/definitions.md#attested
create or replace temp table present_mention as
with present as (
    select
        number,
        hadm_id,
        mention,
        segment,
        block,
        in_heading,
        cui,
        position,
        n_candidates
    from mention_concept
    where
        list_contains(getvariable('assertions'), assertion) and in_context
        and list_contains(getvariable('certainties'), certainty)
)

select present.* exclude (n_candidates)
from present
semi join kg.concept as concept on present.cui = concept.cui
where present.n_candidates = 1
union all
select present.* exclude (n_candidates)
from present
semi join clear_mention on present.number = clear_mention.number and present.mention = clear_mention.mention
where present.n_candidates > 1;
