-- What facts of some admissions can rest on: ends that the context attests, with the mentions that do so
-- Grain: one row per admission, concept, mention and way by which it attests the concept, by admission
-- Output: (number, side, closeness, mention)
-- Inputs: fact_end, fact_side, present_mention, attested. Parameters: first_number, last_number
with ended as (
    select
        fact_end.number,
        fact_side.side,
        fact_end.closeness
    from fact_end
    inner join fact_side on fact_end.cui = fact_side.cui
    where
        -- ranges, so that no other part is read
        fact_end.number between getvariable('first_number') and getvariable('last_number')
),

attesting as (
    select
        present_mention.number,
        present_mention.mention,
        fact_side.side
    from present_mention
    inner join attested on present_mention.cui = attested.cui
    inner join fact_side on attested.other = fact_side.cui
    where
        present_mention.number between getvariable('first_number') and getvariable('last_number')
)

select
    ended.number,
    ended.side,
    ended.closeness,
    attesting.mention
from attesting
inner join ended on attesting.number = ended.number and attesting.side = ended.side
order by ended.number
