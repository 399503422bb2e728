-- The spans that some patients' rows show as support, and the ends that they attest
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: row_span, one row per span and mention there (none: without one); attested_span, one per span that attests
-- Output: row_span(hadm_id, cui, begin_offset, end_offset, text, note_id, assertion, cuis,
--   is_present, is_in_context),
--   attested_span(hadm_id, cui, begin_offset, end_offset, is_present), is_present: in the context too
-- Inputs: labelled (rows of the part), part_mention, attesting. Parameters: sections, assertions, certainties
-- Many rows show the same span: each is looked up once
create or replace temp table row_span as
with distinct_span as (
    select distinct
        spanned.hadm_id,
        spanned.span.cui as cui,
        spanned.span.begin_offset as begin_offset,
        spanned.span.end_offset as end_offset,
        spanned.span.text as text
    from (
        select
            hadm_id,
            unnest(support_spans) as span
        from labelled
    ) as spanned
)

select
    distinct_span.*,
    mention.note_id,
    mention.assertion,
    mention.cuis,
    list_contains(getvariable('assertions'), mention.assertion)
    and list_contains(getvariable('certainties'), mention.certainty) as is_present,
    list_contains(getvariable('sections'), mention.section) as is_in_context
from distinct_span
left join part_mention as mention
    on
        distinct_span.hadm_id = mention.hadm_id and distinct_span.begin_offset = mention.begin_offset
        and distinct_span.end_offset = mention.end_offset;

create or replace temp table attested_span as
select
    meant.hadm_id,
    meant.cui,
    meant.begin_offset,
    meant.end_offset,
    bool_or(meant.is_present and meant.is_in_context) as is_present
from (
    select
        *,
        unnest(cuis) as mentioned
    from row_span
) as meant
semi join attesting on meant.cui = attesting.cui and meant.mentioned = attesting.mentioned
group by all;
