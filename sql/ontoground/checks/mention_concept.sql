-- Concepts of mentions that the release does not know
-- Grain: one row per (mention, cui)
-- Inputs: ground.mention, release.mrconso
-- Caveat: a mention without any candidate is none of these: a finding may have no concept in a release
with candidate as (
    select
        note_id,
        begin_offset,
        end_offset,
        unnest(cuis) as cui
    from ground.mention
),

-- Notes name few of the release's concepts, many times: each is looked up once.
unknown as (
    select named.cui
    from (select distinct unnest(cuis) as cui from ground.mention) as named
    anti join release.mrconso as c on named.cui = c.cui
)

select k.*
from candidate as k
semi join unknown on k.cui = unknown.cui
order by k.note_id, k.begin_offset, k.end_offset, k.cui;
