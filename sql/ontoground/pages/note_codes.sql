-- Concepts that the codes of an admission state or its notes mention, with how often each does
-- Grain: one row per concept; mentions: with any candidate for a coded concept, else with the best one
-- Inputs: ground.admission_concept, ground.mention, kg.concept; variable wanted (an hadm_id)
-- Output: rows beside a note of `ontoground explore`. Source: docs/definitions.md#mention
with coded as (
    select
        cui,
        string_agg(distinct kind, ', ' order by kind) as kinds
    from ground.admission_concept
    where hadm_id = getvariable('wanted')::bigint
    group by cui
),

candidate as (
    select
        assertion,
        cuis[1] as best,
        unnest(cuis) as cui
    from ground.mention
    where hadm_id = getvariable('wanted')::bigint
),

said as (
    select
        candidate.cui,
        count(*) as mentions,
        string_agg(distinct candidate.assertion, ', ' order by candidate.assertion) as assertions
    from candidate
    left join coded on candidate.cui = coded.cui
    where candidate.cui = candidate.best or coded.cui is not null
    group by candidate.cui
)

select
    coalesce(coded.cui, said.cui) as cui,
    concept.name,
    coded.kinds,
    coalesce(said.mentions, 0) as mentions,
    said.assertions
from coded
full join said on coded.cui = said.cui
left join kg.concept as concept on coalesce(coded.cui, said.cui) = concept.cui
order by mentions desc, concept.name asc, cui asc
