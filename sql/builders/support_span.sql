-- The mentions that attest the ends of each supported statement, and the kept end of the unsupported ones
-- Grain: one row per statement and attested end
-- Output: support_span(subject_id, group_id, quadrant, role, cui, begin_offset, end_offset, text, section, linked)
-- Inputs: statement, attested, present_link
-- The pair of mentions by which the context links both ends where it does; else, for each end, a mention that does not
--   attest the other end too, the closest and earliest one
create or replace temp table support_span as
with linked_statement as (
    select
        statement.*,
        present_link.mention as head_mention,
        present_link.other_mention as tail_mention
    from statement
    left join present_link
        on
            statement.hadm_id = present_link.hadm_id
            and statement.head_cui = present_link.cui and statement.tail_cui = present_link.other
),

wanted as (
    select
        subject_id,
        group_id,
        quadrant,
        hadm_id,
        'head' as role,
        head_cui as cui,
        tail_cui as other,
        head_mention as link_mention
    from linked_statement
    where quadrant in ('Q1', 'Q3') or head_cui = kept_cui
    union all
    select
        subject_id,
        group_id,
        quadrant,
        hadm_id,
        'tail' as role,
        tail_cui as cui,
        head_cui as other,
        tail_mention as link_mention
    from linked_statement
    where quadrant in ('Q1', 'Q3') or tail_cui = kept_cui
),

both_ends as (
    select distinct
        hadm_id,
        cui,
        mention
    from attested
),

-- the first of each end in this order, without sorting them all
best as (
    select
        wanted.subject_id,
        wanted.group_id,
        wanted.quadrant,
        wanted.role,
        wanted.cui,
        min(
            {
                'apart': not coalesce(wanted.link_mention = attested.mention, false),
                'shared': both_ends.mention is not null,
                'depth': attested.depth,
                'begin_offset': attested.begin_offset,
                'end_offset': attested.end_offset,
                'via_cui': attested.via_cui,
                'text': attested.text,
                'section': attested.section
            }
        ) as span
    from wanted
    inner join attested on wanted.hadm_id = attested.hadm_id and wanted.cui = attested.cui
    left join both_ends
        on
            wanted.hadm_id = both_ends.hadm_id and wanted.other = both_ends.cui
            and attested.mention = both_ends.mention
    group by wanted.subject_id, wanted.group_id, wanted.quadrant, wanted.role, wanted.cui
)

select
    subject_id,
    group_id,
    quadrant,
    role,
    cui,
    span.begin_offset,
    span.end_offset,
    span.text,
    span.section,
    not span.apart as linked
from best
order by subject_id;
