-- Which words the release's names are made of
-- Writer of MedVAL: a word of a reference that is none of these, nor English, may be misspelt
-- Grain: one row per word of letters only, of four letters and more
-- Output: (word). Inputs: kg.name
select distinct unnest(regexp_extract_all(lower(name), '[a-z]{4,}')) as word
from kg.name
