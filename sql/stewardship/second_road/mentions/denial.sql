-- What some patients' rows show as denials of an end, and what mentions deny or only think of in their admissions
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: denial, one row per denied span; denied_mention, one per mention
-- Output: denial(id, hadm_id, text), denied_mention(hadm_id, text). Inputs: denying (rows of the part), part_mention
create or replace temp table denial as
select distinct
    shown.id,
    shown.hadm_id,
    shown.span.text as text
from (
    select
        id,
        hadm_id,
        unnest(denied_spans) as span
    from denying
    where not is_supported
) as shown;

create or replace temp table denied_mention as
select
    mention.hadm_id,
    mention.text
from part_mention as mention
semi join denial on mention.hadm_id = denial.hadm_id
where mention.assertion not in ('present', 'possible', 'given', 'discontinued');
