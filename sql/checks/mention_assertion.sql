-- Mentions with an assertion that is none of the nine, or without a candidate concept
-- Grain: one row per offending mention
-- Inputs: ground.mention
select
    note_id,
    begin_offset,
    end_offset,
    assertion,
    len(cuis) as candidates
from ground.mention
where
    assertion is null
    or assertion not in (
        'present', 'absent', 'possible', 'family', 'historical', 'hypothetical', 'allergy', 'discontinued', 'planned'
    )
    or coalesce(len(cuis), 0) = 0
order by note_id, begin_offset, end_offset;
