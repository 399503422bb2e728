-- How names and texts are brought to one form
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Output: steward_stem(word): a plural loses its s; steward_key(text): the stems of its words, joined by blanks
-- Source: none; a form of our own, apart from the one by which ehr reads notes
create or replace temp macro steward_stem(word) as
case when length(word) > 3 and regexp_matches(word, '[^siu]s$') then left(word, -1) else word end;

create or replace temp macro steward_key(words) as
array_to_string(
    list_transform(regexp_extract_all(lower(words), '[\pL\pN]+'), lambda word: steward_stem(word)), ' '
);
