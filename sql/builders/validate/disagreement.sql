-- Labels of some patients' rows that the warehouse does not confirm
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per disagreement
-- Output: (check_name, id, found, expected)
-- Inputs: labelled (rows of the part), labelled_context, silent_end, shown_span, attested_span, unclear_by,
--   any_word, part_concept, part_note
-- Source: docs/definitions.md
with ended as (
    select
        id,
        hadm_id,
        'head' as role,
        head_cui as cui,
        replaced_end,
        quadrant,
        is_supported
    from labelled
    union all
    select
        id,
        hadm_id,
        'tail' as role,
        tail_cui as cui,
        replaced_end,
        quadrant,
        is_supported
    from labelled
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
    semi join any_word on meant.hadm_id = any_word.hadm_id and meant.mentioned = any_word.cui
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
        labelled.id,
        labelled.hadm_id,
        unnest(labelled.support_spans) as span
    from labelled
),

-- all rows of an admission have one context
strange as (
    select shown.*
    from shown_span as shown
    inner join labelled_context as held on shown.hadm_id = held.hadm_id
    left join part_note as note on shown.note_id = note.note_id
    where
        shown.note_id is null
        or not shown.is_present
        or shown.text != substr(note.text, shown.begin_offset + 1, shown.end_offset - shown.begin_offset)
        or not contains(held.context, shown.text)
)

select
    'an end that the statement is supported by is attested' as check_name,
    ended.id,
    concat('no present mention of the ', ended.role) as found,
    'one' as expected
from ended
where
    (ended.is_supported or ended.role != ended.replaced_end)
    and not exists (
        select 1 from attested
        where attested.hadm_id = ended.hadm_id and attested.cui = ended.cui
    )
union all
select
    'the replaced end of an unsupported statement is neither mentioned nor coded' as check_name,
    ended.id,
    concat('the note or the codes may mean the ', ended.role) as found,
    'silence' as expected
from ended
inner join unclear on ended.hadm_id = unclear.hadm_id and ended.cui = unclear.cui
where not ended.is_supported and ended.role = ended.replaced_end
union all
select
    'a span is the text of its mention' as check_name,
    spanned.id,
    'another text' as found,
    'note[begin:end]' as expected
from spanned
semi join strange
    on
        spanned.hadm_id = strange.hadm_id and spanned.span.begin_offset = strange.begin_offset
        and spanned.span.end_offset = strange.end_offset
        and spanned.span.text is not distinct from strange.text
union all
select
    'a quadrant is what its two labels say' as check_name,
    id,
    quadrant as found,
    case when is_true then if(is_supported, 'Q1', 'Q2') else if(is_supported, 'Q3', 'Q4') end as expected
from labelled
where quadrant != case when is_true then if(is_supported, 'Q1', 'Q2') else if(is_supported, 'Q3', 'Q4') end
union all
select
    'a patient is in one split' as check_name,
    subject_id::varchar as id,
    count(distinct split)::varchar as found,
    '1' as expected
from labelled
group by subject_id
having count(distinct split) > 1
union all
select
    'a patient is in one fold' as check_name,
    subject_id::varchar as id,
    count(distinct fold)::varchar as found,
    '1' as expected
from labelled
group by subject_id
having count(distinct fold) > 1
union all
select
    'a patient has one admission' as check_name,
    subject_id::varchar as id,
    count(distinct hadm_id)::varchar as found,
    '1' as expected
from labelled
group by subject_id
having count(distinct hadm_id) > 1
union all
select
    'an admission has one context' as check_name,
    min(labelled.id) as id,
    several.contexts::varchar as found,
    '1' as expected
from labelled
inner join (
    select
        hadm_id,
        count(*) as contexts
    from labelled_context
    group by hadm_id
    having count(*) > 1
) as several on labelled.hadm_id = several.hadm_id
group by several.hadm_id, several.contexts
