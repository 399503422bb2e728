-- Rows of the contradicted configuration that the dataset, the notes or the codes do not bear out
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per disagreement
-- Output: (check_name, id, found, expected)
-- Inputs: denying (rows of contradicted/) and labelled (rows of data/), with their contexts denying_context and
--   labelled_context; attesting, unclear_by, present_word, part_mention, part_unclear, part_concept, part_note,
--   partner; note_word, denied_word and denial_word, texts in words. Parameter: sections
-- What a statement says is judged where the dataset says it: here each is found there, word by word. A denied end is
--   looked at from the end down to every mention that may mean it. Source: docs/definitions.md#contradicted
with denied as (
    select
        denying.id,
        denying.hadm_id,
        denying.denied_spans[1].role as role,
        if(denying.denied_spans[1].role = 'head', denying.head_cui, denying.tail_cui) as cui,
        if(denying.denied_spans[1].role = 'head', denying.tail_cui, denying.head_cui) as kept_cui
    from denying
    where not denying.is_supported
),

span as (
    select
        denying.id,
        denying.hadm_id,
        denied.role as denied_role,
        denied.cui as denied_cui,
        unnest(denying.denied_spans) as shown
    from denying
    inner join denied on denying.id = denied.id
),

kept_span as (
    select
        denying.id,
        denying.hadm_id,
        denied.kept_cui,
        denied.role as denied_role,
        unnest(denying.support_spans) as shown
    from denying
    inner join denied on denying.id = denied.id
),

told as (
    select mention.*
    from part_mention as mention
    where mention.hadm_id in (select denied.hadm_id from denied)
),

spoken as (
    select
        mention.hadm_id,
        mention.assertion,
        mention.certainty,
        mention.reasons,
        unnest(mention.cuis) as cui
    from told as mention
),

-- all that the record says beside denying it
otherwise as (
    select
        spoken.hadm_id,
        spoken.cui,
        spoken.assertion as said,
        false as by_code
    from spoken
    where
        case spoken.assertion
            when 'absent' then list_has_any(spoken.reasons, ['stopped', 'conditional', 'elsewhere', 'allergy'])
            when 'hypothetical' then len(list_filter(spoken.reasons, lambda one: one != 'uncertain')) > 0
            when 'family' then len(spoken.reasons) > 0
            when 'allergy' then len(spoken.reasons) > 0
            when 'historical' then len(spoken.reasons) > 0
            when 'planned' then len(spoken.reasons) > 0
            else true
        end
    union all
    select
        unclear.hadm_id,
        unnest(unclear.cuis) as cui,
        'unclear words' as said,
        false as by_code
    from part_unclear as unclear
    where unclear.hadm_id in (select denied.hadm_id from denied)
    union all
    select
        admission_concept.hadm_id,
        admission_concept.cui,
        'a code' as said,
        true as by_code
    from part_concept as admission_concept
    where admission_concept.hadm_id in (select denied.hadm_id from denied)
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
    strange.id,
    'another row' as found,
    'the same row' as expected
from (
    select * exclude (denied_spans) from denying
    where is_supported
    except
    select labelled.* from labelled
    semi join denying on labelled.id = denying.id
) as strange
union all
select
    'a contradicted statement is one that a supported row of its split makes' as check_name,
    denying.id,
    'no such row' as found,
    'the same statement' as expected
from denying
where
    not denying.is_supported
    and not exists (
        select 1 from partner
        where
            partner.statement = denying.statement and partner.split = denying.split
            and partner.predicate = denying.predicate and partner.is_true = denying.is_true
            and partner.head_cui = denying.head_cui and partner.head_name = denying.head_name
            and partner.tail_cui = denying.tail_cui and partner.tail_name = denying.tail_name
            and partner.hops = denying.hops and partner.tier is not distinct from denying.tier
            and partner.path = denying.path and partner.why_false is not distinct from denying.why_false
            and partner.fact_split is not distinct from denying.fact_split
    )
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
        select strange.hadm_id from (
            select * from denying_context
            except
            select * from labelled_context
        ) as strange
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
    concat_ws(' ', span.denied_role, span.denied_cui) as expected
from span
where
    span.shown.role != span.denied_role or span.shown.cui != span.denied_cui
    or span.shown.assertion not in ('absent', 'family', 'allergy', 'historical', 'planned')
    or not exists (
        select 1 from told as mention
        inner join part_note as note on mention.note_id = note.note_id
        where
            mention.hadm_id = span.hadm_id and mention.begin_offset = span.shown.begin_offset
            and mention.end_offset = span.shown.end_offset and mention.assertion = span.shown.assertion
            and mention.section = span.shown.section and list_contains(mention.cuis, span.shown.cui)
            and list_contains(getvariable('sections'), mention.section)
            and substr(note.text, mention.begin_offset + 1, mention.end_offset - mention.begin_offset) = span.shown.text
    )
union all
select distinct
    'nothing in the record says what a row calls denied' as check_name,
    denied.id,
    otherwise.said as found,
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
        select 1 from present_word
        inner join attesting on present_word.cui = attesting.mentioned
        where present_word.hadm_id = denied.hadm_id and attesting.cui = denied.kept_cui
    )
union all
select
    'a span of a contradicted row attests the other end' as check_name,
    kept_span.id,
    concat_ws(' ', kept_span.shown.role, kept_span.shown.cui) as found,
    kept_span.kept_cui as expected
from kept_span
where
    kept_span.shown.role = kept_span.denied_role or kept_span.shown.cui != kept_span.kept_cui
    or not exists (
        select 1 from told as mention
        inner join part_note as note on mention.note_id = note.note_id
        where
            mention.hadm_id = kept_span.hadm_id and mention.begin_offset = kept_span.shown.begin_offset
            and mention.end_offset = kept_span.shown.end_offset
            and list_contains(getvariable('assertions'), mention.assertion)
            and list_contains(getvariable('certainties'), mention.certainty)
            and mention.section = kept_span.shown.section and list_contains(mention.cuis, kept_span.kept_cui)
            and substr(note.text, mention.begin_offset + 1, mention.end_offset - mention.begin_offset)
            = kept_span.shown.text
    )
