-- Mentions by section and assertion
-- Grain: one row per (section, assertion); concepts: mean number of candidates of a mention
-- Inputs: ground.mention
select
    section,
    assertion,
    count(*) as mentions,
    count(distinct note_id) as notes,
    round(avg(len(cuis)), 2) as concepts
from ground.mention
group by section, assertion
order by section asc, mentions desc, assertion asc;
