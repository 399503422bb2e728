-- Names that scispaCy's linker compares the words of notes with
-- Grain: one row per concept and normalised name
-- Inputs: kg.name
-- Output: cui, normalized, in order. Source: the release's English names
select distinct
    cui,
    normalized
from kg.name
order by cui, normalized;
