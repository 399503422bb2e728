-- Texts that some patients' rows show as denials of an end
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per denied span. Columns: id, hadm_id, text in small letters without accents
-- Inputs: denying (rows of the part)
select
    shown.id,
    shown.hadm_id,
    lower(strip_accents(shown.span.text)) as text
from (
    select
        id,
        hadm_id,
        unnest(denied_spans) as span
    from denying
    where not is_supported
) as shown;
