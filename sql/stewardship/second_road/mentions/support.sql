-- Support of some patients' rows that the stored mentions, the codes or the words of the notes do not confirm
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per disagreement. Output: (check_name, id, found, expected)
-- Inputs: labelled (rows of the part), labelled_context, silent_end, named_end, row_span, attested_span, unclear_by,
--   named_concept, part_concept, part_note. Source: docs/definitions.md#attested, #not-attested, #evidence
with ended as (
    select
        id,
        hadm_id,
        is_supported,
        role = replaced_end as is_replaced,
        role,
        if(role = 'head', head_cui, tail_cui) as cui
    from labelled
    cross join (values ('head'), ('tail')) as ends (role)
),

-- a row shows what attests its ends: nobody else has to look for it
attested as (
    select distinct
        hadm_id,
        cui
    from attested_span
    where is_present
),

-- from the end to what may mean it, and only then to the record: few concepts may, and a record names many
meant as (
    select
        silent_end.hadm_id,
        silent_end.cui,
        unclear_by.mentioned,
        unclear_by.by_code
    from silent_end
    inner join unclear_by on silent_end.cui = unclear_by.cui
),

unclear as (
    select
        meant.hadm_id,
        meant.cui
    from meant
    semi join named_concept on meant.hadm_id = named_concept.hadm_id and meant.mentioned = named_concept.cui
    union
    select
        meant.hadm_id,
        meant.cui
    from meant
    semi join part_concept on meant.hadm_id = part_concept.hadm_id and meant.mentioned = part_concept.cui
    where meant.by_code
),

spanned as (
    select
        id,
        hadm_id,
        head_cui,
        tail_cui,
        unnest(support_spans) as span
    from labelled
),

-- all rows of an admission have one context; several of its notes may have such a mention at such a place
misread as (
    select
        row_span.hadm_id,
        row_span.begin_offset,
        row_span.end_offset,
        row_span.text
    from row_span
    inner join labelled_context as context_of on row_span.hadm_id = context_of.hadm_id
    left join part_note as note on row_span.note_id = note.note_id
    group by row_span.hadm_id, row_span.begin_offset, row_span.end_offset, row_span.text
    having
        bool_and(
            row_span.note_id is null
            or not row_span.is_present
            or row_span.text
            != substr(note.text, row_span.begin_offset + 1, row_span.end_offset - row_span.begin_offset)
            or not contains(context_of.context, row_span.text)
        )
),

given_role as (
    select
        spanned.id,
        if(count(distinct spanned.span.role) = 2, 'both', any_value(spanned.span.role)) as roles
    from spanned
    inner join row_span
        on
            spanned.hadm_id = row_span.hadm_id and spanned.span.cui = row_span.cui
            and spanned.span.begin_offset = row_span.begin_offset
            and spanned.span.end_offset = row_span.end_offset and spanned.span.text = row_span.text
    where row_span.assertion = 'given'
    group by spanned.id
)

select
    'an end that the statement is supported by is attested' as check_name,
    ended.id,
    concat('no present mention of the ', ended.role) as found,
    'one' as expected
from ended
anti join attested on ended.hadm_id = attested.hadm_id and ended.cui = attested.cui
where ended.is_supported or not ended.is_replaced
union all
select
    'the replaced end of an unsupported statement is neither mentioned nor coded' as check_name,
    ended.id,
    concat('the note or the codes may mean the ', ended.role) as found,
    'silence' as expected
from ended
inner join unclear on ended.hadm_id = unclear.hadm_id and ended.cui = unclear.cui
where not ended.is_supported and ended.is_replaced
union all
select
    'the text of no note names the replaced end of an unsupported statement' as check_name,
    labelled.id,
    -- the name comes from the release or from the row, not from the note
    concat('the text has "', min(named_end.name), '"') as found,
    'no name of it' as expected
from labelled
inner join named_end
    on
        labelled.hadm_id = named_end.hadm_id
        and if(labelled.replaced_end = 'head', labelled.head_cui, labelled.tail_cui) = named_end.cui
where not labelled.is_supported
group by labelled.id
union all
select
    'a span is the text of its mention' as check_name,
    spanned.id,
    'another text' as found,
    'note[begin:end]' as expected
from spanned
semi join misread
    on
        spanned.hadm_id = misread.hadm_id and spanned.span.begin_offset = misread.begin_offset
        and spanned.span.end_offset = misread.end_offset and spanned.span.text is not distinct from misread.text
union all
select
    'a span attests the end that it stands for' as check_name,
    spanned.id,
    spanned.span.cui as found,
    if(spanned.span.role = 'head', spanned.head_cui, spanned.tail_cui) as expected
from spanned
left join attested_span
    on
        spanned.hadm_id = attested_span.hadm_id and spanned.span.cui = attested_span.cui
        and spanned.span.begin_offset = attested_span.begin_offset
        and spanned.span.end_offset = attested_span.end_offset
where
    attested_span.cui is null
    or spanned.span.cui != if(spanned.span.role = 'head', spanned.head_cui, spanned.tail_cui)
union all
select
    'given names the ends that rest on a drug that was given' as check_name,
    labelled.id,
    labelled.given as found,
    coalesce(given_role.roles, 'none') as expected
from labelled
left join given_role on labelled.id = given_role.id
where labelled.given != coalesce(given_role.roles, 'none');
