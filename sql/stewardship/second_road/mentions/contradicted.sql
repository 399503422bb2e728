-- Rows of the contradicted configuration that the dataset, the notes or the codes do not bear out
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per disagreement
-- Output: (check_name, id, found, expected)
-- Inputs: denying (rows of contradicted/) and labelled (rows of data/), with their contexts denying_context and
--   labelled_context; attesting, unclear_by, present_concept, part_mention, part_unclear, part_concept, part_note,
--   partner; note_word, denied_word and denial_word, texts in words. Parameters: sections, assertions, certainties
-- What a statement claims is judged where the dataset makes it: here each is looked for there, word by word. A denied
--   end is looked at from the end down to every mention that may mean it. Source: docs/definitions.md#contradicted
with denied as (
    select
        id,
        hadm_id,
        denied_spans,
        support_spans,
        denied_spans[1].role as role,
        if(denied_spans[1].role = 'head', head_cui, tail_cui) as cui,
        if(denied_spans[1].role = 'head', tail_cui, head_cui) as kept_cui
    from denying
    where not is_supported
),

span as (
    select
        *,
        unnest(denied_spans) as shown,
        true as denies
    from denied
    union all
    select
        *,
        unnest(list_transform(support_spans, lambda shown: struct_insert(shown, assertion := ''))) as shown,
        false as denies
    from denied
),

mention as (
    select
        part_mention.*,
        substr(note.text, part_mention.begin_offset + 1, part_mention.end_offset - part_mention.begin_offset)
            as note_text
    from part_mention
    semi join denied on part_mention.hadm_id = denied.hadm_id
    inner join part_note as note on part_mention.note_id = note.note_id
),

-- spans that show a mention of their end as the notes have it
borne_out as (
    select
        span.id,
        span.denies,
        span.shown
    from span
    inner join mention
        on
            span.hadm_id = mention.hadm_id and span.shown.begin_offset = mention.begin_offset
            and span.shown.end_offset = mention.end_offset and span.shown.section = mention.section
            and span.shown.text = mention.note_text
            and list_contains(mention.cuis, if(span.denies, span.shown.cui, span.kept_cui))
    where
        if(
            span.denies,
            mention.assertion = span.shown.assertion and list_contains(getvariable('sections'), mention.section),
            list_contains(getvariable('assertions'), mention.assertion)
            and list_contains(getvariable('certainties'), mention.certainty)
        )
),

unproven as (
    select span.*
    from span
    anti join borne_out
        on span.id = borne_out.id and span.denies = borne_out.denies and span.shown = borne_out.shown
),

-- all that the record says beside denying it
otherwise as (
    select
        hadm_id,
        unnest(cuis) as cui,
        assertion as reading,
        false as by_code
    from mention
    where
        case
            when assertion = 'absent'
                then
                    list_has_any(reasons, ['stopped', 'conditional', 'allergy'])
                    or len(list_filter(reasons, lambda reason: starts_with(reason, 'learned:'))) > 0
            when assertion = 'hypothetical' then len(list_filter(reasons, lambda reason: reason != 'uncertain')) > 0
            when assertion in ('family', 'allergy', 'historical', 'planned') then len(reasons) > 0
            else true
        end
    union all
    select
        hadm_id,
        unnest(cuis) as cui,
        'unclear words' as reading,
        false as by_code
    from part_unclear
    where hadm_id in (select denied.hadm_id from denied)
    union all
    select
        hadm_id,
        cui,
        'a code' as reading,
        true as by_code
    from part_concept
    where hadm_id in (select denied.hadm_id from denied)
),

-- how often the notes have the words of a denial, and how often in a mention that denies them or only thinks of them
unread as (
    select
        denial_word.id,
        (
            select sum(len(string_split(note_word.text, denial_word.text)) - 1) from note_word
            where note_word.hadm_id = denial_word.hadm_id
        ) as found,
        (
            select sum(len(string_split(denied_word.text, denial_word.text)) - 1) from denied_word
            where denied_word.hadm_id = denial_word.hadm_id
        ) as expected
    from denial_word
)

select
    'a supported row is a copy of one of data/' as check_name,
    other_row.id,
    'another row' as found,
    'the same row' as expected
from (
    select * exclude (denied_spans) from denying
    where is_supported
    except
    select labelled.* from labelled
    semi join denying on labelled.id = denying.id
) as other_row
union all
select
    'a contradicted statement is one that a supported row of its split makes' as check_name,
    denying.id,
    'no such row' as found,
    'the same statement' as expected
from denying
anti join partner
    on
        denying.statement = partner.statement and denying.split = partner.split
        and denying.predicate = partner.predicate and denying.is_true = partner.is_true
        and denying.head_cui = partner.head_cui and denying.head_name = partner.head_name
        and denying.tail_cui = partner.tail_cui and denying.tail_name = partner.tail_name
        and denying.hops = partner.hops and denying.tier is not distinct from partner.tier
        and denying.path = partner.path and denying.why_false is not distinct from partner.why_false
        and denying.fact_split is not distinct from partner.fact_split
where not denying.is_supported
union all
select
    'a contradicted row has the context, the patient and the split of its admission' as check_name,
    denying.id,
    'another' as found,
    'that of data/' as expected
from denying
where
    not exists (
        select 1 from labelled
        where
            labelled.hadm_id = denying.hadm_id and labelled.subject_id = denying.subject_id
            and labelled.split = denying.split
    )
    or denying.hadm_id in (
        select other_context.hadm_id from (
            select * from denying_context
            except
            select * from labelled_context
        ) as other_context
    )
union all
select
    'labels of a contradicted row go together' as check_name,
    id,
    concat_ws(' ', quadrant, support_level, replaced_end) as found,
    concat_ws(' ', if(is_true, 'Q2', 'Q4'), 'contradicted none') as expected
from denying
where
    if(
        is_supported,
        len(denied_spans) > 0,
        quadrant != if(is_true, 'Q2', 'Q4') or support_level != 'contradicted' or replaced_end != 'none'
        or replaced_cui is not null or distance is not null or len(denied_spans) = 0 or len(support_spans) != 1
    )
union all
select
    'a denied span is a mention that names the end and denies it' as check_name,
    span.id,
    concat_ws(' ', span.shown.role, span.shown.cui, span.shown.assertion) as found,
    concat_ws(' ', span.role, span.cui) as expected
from span
left join unproven on span.id = unproven.id and span.denies = unproven.denies and span.shown = unproven.shown
where
    span.denies
    and (
        span.shown.role != span.role or span.shown.cui != span.cui or unproven.id is not null
        or span.shown.assertion not in ('absent', 'family', 'allergy', 'historical', 'planned')
    )
union all
select distinct
    'nothing in the record says what a row calls denied' as check_name,
    denied.id,
    otherwise.reading as found,
    concat('denials of the ', denied.role) as expected
from denied
inner join otherwise on denied.hadm_id = otherwise.hadm_id
inner join unclear_by on denied.cui = unclear_by.cui and otherwise.cui = unclear_by.mentioned
where unclear_by.by_code or not otherwise.by_code
union all
select
    'the words of a denial stand nowhere else' as check_name,
    id,
    concat(found, ' times') as found,
    concat(expected, ' times in what was read') as expected
from unread
where found > expected
union all
select
    'the other end of a contradicted row is attested' as check_name,
    denied.id,
    'no present mention' as found,
    denied.kept_cui as expected
from denied
where
    not exists (
        select 1 from present_concept
        inner join attesting on present_concept.cui = attesting.mentioned
        where present_concept.hadm_id = denied.hadm_id and attesting.cui = denied.kept_cui
    )
union all
select
    'a span of a contradicted row attests the other end' as check_name,
    span.id,
    concat_ws(' ', span.shown.role, span.shown.cui) as found,
    span.kept_cui as expected
from span
left join unproven on span.id = unproven.id and span.denies = unproven.denies and span.shown = unproven.shown
where
    not span.denies
    and (span.shown.role = span.role or span.shown.cui != span.kept_cui or unproven.id is not null);
