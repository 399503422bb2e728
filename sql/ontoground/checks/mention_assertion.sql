-- Mentions with an assertion that is none of the ten
-- Grain: one row per offending mention
-- Inputs: ground.mention
select
    note_id,
    begin_offset,
    end_offset,
    assertion
from ground.mention
where
    assertion is null
    or assertion not in (
        'present', 'absent', 'possible', 'family', 'historical', 'hypothetical', 'allergy', 'discontinued', 'given',
        'planned'
    )
order by note_id, begin_offset, end_offset;
