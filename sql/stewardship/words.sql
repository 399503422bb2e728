-- The words of texts as numbers: their hashes, in their order
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per text
-- Output: a select (id, words): words without case, and without anything but letters and digits
-- Inputs: steward_text(id, text)
select
    id,
    list_transform(
        list_filter(string_split_regex(lower(text), '[^a-z0-9]+'), lambda word: word != ''), lambda word: hash(word)
    ) as words
from steward_text;
