-- Mentions by assertion and certainty, with what makes them unsure
-- Grain: one row per assertion, certainty and reason; a mention with several reasons counts once for each, and all that
--   was learned to speak against mentions is one reason
-- Inputs: ground.mention
with reasoned as (
    select
        note_id,
        assertion,
        certainty,
        split_part(unnest(if(len(reasons) = 0, ['none'], reasons)), ':', 1) as reason
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
