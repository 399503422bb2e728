-- The words of a text: small letters and figures, no accents, a blank between two of them
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Output: the macro words_of(said)
create or replace temp macro words_of(said) as
trim(regexp_replace(lower(strip_accents(said)), '[^a-z0-9]+', ' ', 'g'));
