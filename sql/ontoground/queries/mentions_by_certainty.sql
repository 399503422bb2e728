-- Mentions by assertion and certainty, with what makes them unsure
-- Grain: one row per assertion, certainty and reason; a mention with several reasons counts once for each
-- Inputs: ground.mention
with reasoned as (
    select
        note_id,
        assertion,
        certainty,
        unnest(if(len(reasons) = 0, ['none'], reasons)) as reason
    from ground.mention
)

select
    assertion,
    certainty,
    reason,
    count(*) as mentions,
    count(distinct note_id) as notes
from reasoned
group by assertion, certainty, reason
order by assertion asc, certainty asc, mentions desc, reason asc;
