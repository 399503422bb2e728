-- Choices by stable hash, the same as ontoground.stable in Python
-- Output: unit(key), a number in (0, 1] that depends on the seed and the key; race(key, weight), the smallest of several
--   wins with a chance in proportion to its weight
-- Source: DESIGN section 3 (randomness)
create or replace temp macro unit(key) as
((md5_number_upper(concat_ws(chr(31), getvariable('seed'), key)) >> 11)::double + 1) * power(2, -53);

create or replace temp macro race(key, weight) as -ln(unit(key)) / weight;
