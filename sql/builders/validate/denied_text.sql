-- Texts of mentions that deny something or only think of it, in admissions with contradicted rows
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per mention. Columns: hadm_id, text in small letters without accents
-- Inputs: denying (rows of the part), part_mention
select
    mention.hadm_id,
    lower(strip_accents(mention.text)) as text
from part_mention as mention
where
    mention.hadm_id in (
        select denying.hadm_id from denying
        where not denying.is_supported
    )
    and mention.assertion not in ('present', 'possible', 'given', 'discontinued');
