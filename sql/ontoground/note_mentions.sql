-- Mentions of one note in their order, with the names of their candidate concepts
-- Grain: one row per mention
-- Inputs: ground.mention, kg.concept; variable wanted
-- Output: rows for `ontoground notes mentions --hadm`. Source: docs/definitions.md#mention
with candidate as (
    select
        begin_offset,
        end_offset,
        unnest(cuis) as cui
    from ground.mention
    where note_id = getvariable('wanted')
),

named as (
    select
        candidate.begin_offset,
        candidate.end_offset,
        string_agg(candidate.cui || ' ' || concept.name, '; ' order by candidate.cui) as concepts
    from candidate
    inner join kg.concept as concept on candidate.cui = concept.cui
    group by candidate.begin_offset, candidate.end_offset
)

select
    mention.begin_offset,
    mention.end_offset,
    mention.text,
    mention.cuis,
    named.concepts,
    mention.assertion,
    mention.section,
    mention.certainty,
    mention.reasons
from ground.mention as mention
left join named on mention.begin_offset = named.begin_offset and mention.end_offset = named.end_offset
where mention.note_id = getvariable('wanted')
order by mention.begin_offset, mention.end_offset
