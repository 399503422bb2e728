-- Mentions whose candidates all mean the same: one candidate, or candidates that name one thing under several CUIs
-- Grain: one row per clear mention
-- Output: clear_mention(note_id, mention)
-- Inputs: mention_concept, closure(cui, other, relation, depth), kg.concept
-- Two candidates mean the same when one is an equivalent, a parent or a child of the other, or when both have the same
--   preferred name (a source term that carries several CUIs)
create or replace temp table clear_mention as
with close_pair as (
    select distinct
        cui,
        other
    from closure
    where relation = 'equivalent' or (relation in ('ancestor', 'descendant') and depth <= 1)
),

compared as (
    select
        other.note_id,
        other.mention,
        first_candidate.cui = other.cui
        or close_pair.cui is not null
        or lower(first_concept.name) = lower(other_concept.name) as same
    from mention_concept as other
    inner join mention_concept as first_candidate
        on other.note_id = first_candidate.note_id and other.mention = first_candidate.mention
    inner join kg.concept as first_concept on first_candidate.cui = first_concept.cui
    inner join kg.concept as other_concept on other.cui = other_concept.cui
    left join close_pair on first_candidate.cui = close_pair.cui and other.cui = close_pair.other
    where first_candidate.position = 1
)

select
    note_id,
    mention
from compared
group by note_id, mention
having bool_and(same);
