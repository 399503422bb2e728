-- Concepts that share names in the release: a note that names one may mean the other
-- Grain: one row per ordered pair, of concepts that mentions and codes mean or attest, and their namesakes
-- Output: namesake(cui, other). Inputs: closure, kg.name, kg.concept
-- Both are in one semantic group, and the preferred name of one is a name of the other, or they share two names;
--   singular and plural are one name. Abbreviations do not count, nor names of very many concepts. The reason: some
--   sources map one of their terms to several CUIs, which splits what is one thing.
--   Source: docs/definitions.md#namesake
create or replace temp table namesake as
with wanted as (
    select distinct other as cui
    from closure
    where relation in ('self', 'equivalent', 'ancestor')
),

worded as (
    select
        name.cui,
        regexp_replace(name.normalized, '([a-z][a-z][^sui])s$', '\1') as word,
        bool_or(name.is_preferred) as is_preferred
    from kg.name as name
    where length(name.normalized) > 4
    group by all
),

own as (
    select
        worded.cui,
        worded.word,
        worded.is_preferred
    from worded
    semi join wanted on worded.cui = wanted.cui
),

shared as (
    select
        own.cui,
        worded.cui as other,
        own.is_preferred or worded.is_preferred as is_preferred
    from own
    inner join worded on own.word = worded.word
    qualify count(*) over (partition by own.cui, own.word) <= 20
),

pair as (
    select
        cui,
        other
    from shared
    where cui != other
    group by cui, other
    having bool_or(is_preferred) or count(*) >= 2
)

select
    pair.cui,
    pair.other
from pair
inner join kg.concept as concept on pair.cui = concept.cui
inner join kg.concept as other_concept on pair.other = other_concept.cui
where list_has_any(concept.groups, other_concept.groups);
