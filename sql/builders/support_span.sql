-- The mentions that attest the ends of each supported statement, and the kept end of the unsupported ones
-- Grain: one row per statement and attested end
-- Output: support_span(group_id, quadrant, role, cui, begin_offset, end_offset, text, section, linked)
-- Inputs: statement, attested, stated_link
-- The mention by which the note links both ends where it does; else the closest and earliest one
create or replace temp table support_span as
with wanted as (
    select
        group_id,
        quadrant,
        hadm_id,
        'head' as role,
        head_cui as cui,
        tail_cui as other
    from statement
    where quadrant in ('Q1', 'Q3') or head_cui = kept_cui
    union all
    select
        group_id,
        quadrant,
        hadm_id,
        'tail' as role,
        tail_cui as cui,
        head_cui as other
    from statement
    where quadrant in ('Q1', 'Q3') or tail_cui = kept_cui
),

ranked as (
    select
        wanted.*,
        attested.begin_offset,
        attested.end_offset,
        attested.text,
        attested.section,
        coalesce(present_link.mention = attested.mention, false) as linked,
        row_number() over (
            partition by wanted.group_id, wanted.quadrant, wanted.role
            order by
                coalesce(present_link.mention = attested.mention, false) desc,
                attested.depth, attested.begin_offset asc, attested.end_offset asc, attested.via_cui asc
        ) as choice
    from wanted
    inner join attested on wanted.hadm_id = attested.hadm_id and wanted.cui = attested.cui
    left join present_link
        on
            wanted.hadm_id = present_link.hadm_id
            and wanted.cui = present_link.cui and wanted.other = present_link.other
)

select * exclude (choice, hadm_id, other) from ranked
where choice = 1;
