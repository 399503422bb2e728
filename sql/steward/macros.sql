-- How names and texts are brought to one form
-- Grain: none
-- Output: steward_stem(word): a plural loses its s; steward_key(text): the stems of its words, joined by blanks
create or replace temp macro steward_stem(word) as (
    if(len(word) > 3 and regexp_matches(word, '[^siu]s$'), word[:len(word) - 1], word)
);

create or replace temp macro steward_key(text) as (
    list_aggregate(
        list_transform(regexp_extract_all(lower(text), '[\pL\pN]+'), lambda word: steward_stem(word)), 'string_agg', ' '
    )
);
