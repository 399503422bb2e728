-- Choices by stable hash, the same as ground.stable in Python; names in one form
-- Output: unit(key) and unit_of(seeded_key), whose key begins with the seed,
--   a number in (0, 1] that depends on the seed and the key; plain_class(name), whether a class can be
--   named in a sentence: no catch-all, no list, no code, no chapter of a classification; normal_name(text), as
--   kg.name.normalized has it
-- Source: docs/definitions.md#stable-hash
create or replace temp macro unit_of(seeded_key) as
((md5_number_upper(seeded_key) >> 11)::double + 1) * power(2, -53);

create or replace temp macro unit(key) as unit_of(concat_ws(chr(31), getvariable('seed'), key));

create or replace temp macro plain_class(name) as
length(name) between 4 and 60
and not regexp_matches(
    name,
    '(?i)\b(other|others|unspecified|nos|nec|miscellaneous|and|or|category|class|procedures?|operations?|findings?'
    || '|diseases of|disorders of|sign or symptom|elsewhere|multiple)\b|[\d\[\]()/,;:]'
);

create or replace temp macro normal_name(said) as
trim(regexp_replace(lower(said), '[^a-z0-9]+', ' ', 'g'));
