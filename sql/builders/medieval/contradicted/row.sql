-- The rows of the contradicted configuration, without their contexts
-- Grain: one row per row of the dataset, numbered within its split in the order of patients
-- Output: contradicted_row (columns of ContradictedRow but context; circuit, row_no)
-- Inputs: chosen(number, wording, id, circuit), written (rows of data/, without contexts), offered, contradiction,
--   wording, denied_mention, present_mention, nameable, admission, cohort, ground.mention. Parameter: seed
-- A chosen row with an id is a copy of a row of data/. One without is contradicted: it has the statement of a copy,
--   with all that the statement decides, and the mentions of its own admission
create or replace temp table contradicted_row as
with shown as (
    select
        admission.number,
        mention.begin_offset,
        mention.end_offset,
        mention.text,
        mention.section,
        mention.assertion
    from ground.mention as mention
    inner join admission on mention.note_id = admission.note_id
    where admission.number in (select chosen.number from chosen)
),

denied as (
    select
        chosen.number,
        chosen.wording,
        chosen.circuit,
        contradiction.role,
        wording.denied,
        wording.kept
    from chosen
    inner join contradiction on chosen.number = contradiction.number and chosen.wording = contradiction.wording
    inner join wording on contradiction.wording = wording.wording and contradiction.role = wording.role
    where chosen.id is null
),

first_kept as (
    select
        denied.number,
        denied.wording,
        nameable.cui,
        min(present_mention.mention) as mention
    from denied
    inner join nameable on denied.kept = nameable.code
    inner join present_mention on denied.number = present_mention.number and nameable.cui = present_mention.cui
    group by denied.number, denied.wording, nameable.cui
),

kept_span as (
    select
        denied.number,
        denied.wording,
        [{
            'role': if(denied.role = 'head', 'tail', 'head'),
            'cui': first_kept.cui,
            'begin_offset': shown.begin_offset,
            'end_offset': shown.end_offset,
            'text': shown.text,
            'section': shown.section
        }] as spans,
        if(shown.assertion = 'given', if(denied.role = 'head', 'tail', 'head'), 'none') as given
    from denied
    inner join first_kept on denied.number = first_kept.number and denied.wording = first_kept.wording
    inner join shown on first_kept.number = shown.number and first_kept.mention = shown.begin_offset
),

denied_span as (
    select
        denied.number,
        denied.wording,
        list({
            'role': denied.role,
            'cui': nameable.cui,
            'begin_offset': shown.begin_offset,
            'end_offset': shown.end_offset,
            'text': shown.text,
            'section': shown.section,
            'assertion': shown.assertion
        } order by shown.begin_offset) as spans
    from denied
    inner join nameable on denied.denied = nameable.code
    inner join denied_mention on denied.number = denied_mention.number and denied.denied = denied_mention.code
    inner join shown on denied_mention.number = shown.number and denied_mention.mention = shown.begin_offset
    group by denied.number, denied.wording
),

model as (
    select
        wording,
        split,
        min(id) as id
    from offered
    group by wording, split
),

contradicted as (
    select
        written.* replace (
            concat_ws(
                '-', admission.hadm_id,
                left(md5(concat_ws(chr(31), getvariable('seed'), written.predicate, written.statement)), 12),
                left(denied.role, 1), 'denied'
            ) as group_id,
            cohort.subject_id as subject_id,
            admission.hadm_id as hadm_id,
            if(written.is_true, 'Q2', 'Q4') as quadrant,
            false as is_supported,
            'contradicted' as support_level,
            kept_span.spans as support_spans,
            'none' as replaced_end,
            null as replaced_cui,
            null as distance,
            kept_span.given as given,
            cohort.fold as fold
        ),
        denied_span.spans as denied_spans,
        denied.circuit
    from denied
    inner join admission on denied.number = admission.number
    inner join cohort on admission.hadm_id = cohort.hadm_id
    inner join model on denied.wording = model.wording and cohort.split = model.split
    inner join written on model.id = written.id
    inner join kept_span on denied.number = kept_span.number and denied.wording = kept_span.wording
    inner join denied_span on denied.number = denied_span.number and denied.wording = denied_span.wording
),

every_row as (
    select contradicted.* replace (concat_ws('-', contradicted.group_id, contradicted.quadrant) as id)
    from contradicted
    union all
    select
        written.*,
        [] as denied_spans,
        chosen.circuit
    from written
    inner join chosen on written.id = chosen.id
)

select
    *,
    row_number() over (partition by split order by subject_id, id) - 1 as row_no
from every_row;
