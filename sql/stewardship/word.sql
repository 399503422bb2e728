-- The words of the texts, in lower case, with the sentence each stands in
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per text and word
-- Output: steward_word(text_id, kind, place, word, shape, sentence, clause)
-- Inputs: steward_text(text_id, kind, body), steward_stem
-- A sentence ends with a mark before white space, an empty line, a line that begins with a list mark, or a short line
--   (an entry of a list; running text is wrapped later). clause counts the commas.
--   shape keeps the case, for abbreviations
create or replace temp table steward_word as
with piece as (
    select
        text_id,
        kind,
        unnest(pieces) as piece,
        generate_subscripts(pieces, 1) as place
    from (
        select
            text_id,
            kind,
            regexp_extract_all(
                regexp_replace(body, '(?m)^(.{1,45})$', '\1 . ', 'g'),
                '[\pL\pN]+|,|[.;:!?](?:\s|$)|\n[ \t]*\n|\n[ \t]*(?:[-#*•]|\d+[.)])'
            ) as pieces
        from steward_text
    ) as split_text
),

numbered as (
    select
        *,
        regexp_matches(piece, '^[\pL\pN]') as is_word,
        sum(if(regexp_matches(piece, '^[\pL\pN,]'), 0, 1)) over so_far as sentence,
        sum(if(piece = ',', 1, 0)) over so_far as clause
    from piece
    window so_far as (partition by text_id, kind order by place)
)

select
    text_id,
    kind,
    row_number() over (partition by text_id, kind order by place) as place,
    steward_stem(lower(piece)) as word,
    piece as shape,
    sentence,
    clause
from numbered
where is_word;
