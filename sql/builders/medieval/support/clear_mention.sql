-- Mentions of several candidates that all mean the same: one thing under several CUIs
-- Grain: one row per clear mention of more than one candidate
-- Output: clear_mention(number, mention)
-- Inputs: mention_concept, closure(cui, other, relation, depth), kg.concept
-- Two candidates mean the same when one is an equivalent, a parent or a child of the other, or when both have the same
--   preferred name (a source term that carries several CUIs). Each pair of candidates is compared once. A mention of
--   one candidate is clear if the release knows it (sql/builders/medieval/support/present_mention.sql)
create or replace temp table clear_mention as
with close_pair as (
    select distinct
        cui,
        other
    from closure
    where relation = 'equivalent' or (relation in ('ancestor', 'descendant') and depth <= 1)
),

paired as (
    select
        other.number,
        other.mention,
        first_candidate.cui as first_cui,
        other.cui
    from mention_concept as other
    inner join mention_concept as first_candidate
        on other.number = first_candidate.number and other.mention = first_candidate.mention
    where first_candidate.position = 1 and other.n_candidates > 1 and first_candidate.n_candidates > 1
),

compared as (
    select
        pair.first_cui,
        pair.cui,
        pair.first_cui = pair.cui
        or close_pair.cui is not null
        or lower(first_concept.name) = lower(other_concept.name) as same
    from (
        select distinct
            paired.first_cui,
            paired.cui
        from paired
    ) as pair
    inner join kg.concept as first_concept on pair.first_cui = first_concept.cui
    inner join kg.concept as other_concept on pair.cui = other_concept.cui
    left join close_pair on pair.first_cui = close_pair.cui and pair.cui = close_pair.other
)

select
    paired.number,
    paired.mention
from paired
inner join compared on paired.first_cui = compared.first_cui and paired.cui = compared.cui
group by paired.number, paired.mention
having bool_and(compared.same);
