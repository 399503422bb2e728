-- Ends of one lot's unsupported rows that a text of the admission names
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per admission, end and name that was found. Output: named_end(hadm_id, cui, name), added to
-- Inputs: silent_end, spelled, bare_text. Parameter: lot
-- A text is searched for the names only of which it has the rarest word: pairs of texts and names are too many
insert into named_end
with asked as (
    select
        silent_end.hadm_id,
        silent_end.cui,
        spelled.name,
        spelled.word
    from silent_end
    inner join spelled on silent_end.cui = spelled.cui
    where silent_end.lot = getvariable('lot')
),

said as (
    select distinct
        bare_text.text_id,
        bare_text.hadm_id,
        unnest(string_split(bare_text.words, ' ')) as word
    from bare_text
),

-- by itself, so that no text is copied for every word
possible as materialized (
    select
        said.text_id,
        asked.hadm_id,
        asked.cui,
        asked.name
    from asked
    inner join said on asked.hadm_id = said.hadm_id and asked.word = said.word
)

select distinct
    possible.hadm_id,
    possible.cui,
    possible.name
from possible
inner join bare_text on possible.text_id = bare_text.text_id
where contains(bare_text.words, ' ' || possible.name || ' ');
