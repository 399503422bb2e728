-- Forms of each drug name in which it is looked up, from the name as written to its first word
-- Grain: one row per (code, form, rank, part, nuance)
-- Inputs: source_code, drug_word (builders/data/drug_words.tsv), drug_alias (builders/data/drug_aliases.tsv)
-- Output: temporary table drug_variant(code, form, sorted_form, rank, part, nuance). rank 0 is the name as written,
--   a higher rank leaves out more. Forms of one rank with different parts belong together (the drugs of a
--   combination); nuance tells apart forms of one part
-- Caveat: the text in brackets is tried by itself where the text outside has no concept (often it is the brand). A
--   combination of which the release has no name is taken apart ("Amoxicillin-Clavulanic Acid"): each part that has
--   a concept is a candidate
-- Source: own rules; the word lists name theirs
-- A pattern that is a constant of the statement is compiled once, one that is a column for every name.
set variable drug_unit = (
    select string_agg(word, '|' order by length(word) desc, word)
    from drug_word
    where kind = 'unit'
);

create or replace temp table drug_variant as
with name as (
    select
        code,
        lower(code) as whole,
        regexp_replace(lower(code), '[(\[][^)\]]*[)\]]?', ' ', 'g') as outside,
        regexp_extract(lower(code), '[(\[]([^)\]]*)', 1) as inside
    from source_code
    where kind = 'drug_name'
),

-- Strengths go before the punctuation that tells them: "0.9%", "10 units/ml", "12.5g / 50mL".
strengthless as (
    select
        p.code,
        p.place,
        p.raw,
        regexp_replace(
            p.raw,
            '\b[0-9][0-9,.]*(\s*-\s*[0-9.,]+)?\s*-?\s*(' || getvariable('drug_unit') || ')'
            || '(\s*/\s*[0-9.,]*\s*(' || getvariable('drug_unit') || '))?(\b|\s|$)|[0-9][0-9,.]*\s*%',
            ' ', 'g'
        ) as bare
    from (
        select
            code,
            'outside' as place,
            outside as raw
        from name
        union all
        select
            code,
            'inside' as place,
            inside as raw
        from name
    ) as p
),

bare as (
    select
        code,
        place,
        0 as part,
        plain_name(raw) as plain,
        plain_name(bare) as stripped
    from strengthless
    union all
    select
        n.code,
        'split' as place,
        s.part,
        plain_name(s.raw) as plain,
        plain_name(s.raw) as stripped
    from strengthless as n
    cross join
        lateral (
            select
                unnest(p.pieces) as raw,
                generate_subscripts(p.pieces, 1) as part
            from (select regexp_split_to_array(n.bare, '[/&+,]|-+|\band\b|\bwith\b|\bw/') as pieces) as p
        ) as s
    where n.place = 'outside' and regexp_matches(n.bare, '[/&+,-]|\band\b|\bwith\b')
),

token as (
    select
        b.code,
        b.place,
        b.part,
        t.position,
        coalesce(nullif(w.means, ''), t.word) as word,
        if(w.kind = 'short', m.kind, w.kind) as kind,
        min(t.position) filter (where coalesce(w.kind, 'short') in ('salt', 'short'))
            over (partition by b.code, b.place, b.part) as first_position
    from bare as b
    cross join
        lateral (
            select
                unnest(string_split(b.stripped, ' ')) as word,
                generate_subscripts(string_split(b.stripped, ' '), 1) as position
        ) as t
    left join drug_word as w on t.word = w.word and w.kind not in ('unit', 'too_short')
    left join drug_word as m on w.means = m.word and m.kind not in ('unit', 'too_short')
    where t.word <> ''
),

-- Which words each way leaves out.
kept as (
    select
        t.code,
        t.place,
        t.part,
        t.position,
        t.word,
        way.way
    from token as t
    cross join (values ('words'), ('numbers'), ('salts')) as way (way)
    where
        coalesce(t.kind, 'salt') = 'salt'
        and not (way.way <> 'words' and regexp_full_match(t.word, '[0-9]+'))
        -- A salt word that comes first is the drug itself: potassium chloride.
        and not (way.way = 'salts' and t.kind is not null and t.position > t.first_position)
),

shorter as (
    select
        code,
        place,
        part,
        way,
        string_agg(word, ' ' order by position) as form
    from kept
    group by all
),

prefix as (
    select
        s.code,
        s.place,
        s.part,
        array_to_string(string_split(s.form, ' ')[1:n.n], ' ') as form,
        n.n as words
    from shorter as s
    inner join (select unnest(range(1, 12)) as n) as n on n.n < len(string_split(s.form, ' '))
    where s.way = 'words'
),

form as (
    select
        code,
        plain_name(whole) as form,
        0.0 as rank,
        0 as part,
        0.0 as nuance
    from name
    union all
    select
        code,
        plain as form,
        if(place = 'outside', 1.0, 6.5) as rank,
        0 as part,
        0.0 as nuance
    from bare
    where place <> 'split'
    union all
    select
        code,
        stripped as form,
        2.0 as rank,
        0 as part,
        0.0 as nuance
    from bare
    where place = 'outside'
    union all
    select
        code,
        form,
        case way when 'words' then 3.0 when 'numbers' then 4.0 else 5.0 end + if(place = 'inside', 4.0, 0.0) as rank,
        0 as part,
        0.0 as nuance
    from shorter
    where place <> 'split'
    union all
    select
        s.code,
        s.form,
        10.0 as rank,
        s.part,
        case s.way when 'words' then 0.0 when 'numbers' then 0.4 else 0.8 end as nuance
    from shorter as s
    where
        s.place = 'split'
        and s.form not in (
            select w.word
            from drug_word as w
            where w.kind = 'too_short'
        )
    union all
    select
        p.code,
        p.form,
        case p.place
            when 'split' then 10.0
            when 'outside' then 12.0 - p.words / 20.0
            else 13.0 - p.words / 20.0
        end as rank,
        p.part,
        if(p.place = 'split', 2.0 - p.words / 20.0, 0.0) as nuance
    from prefix as p
    where
        p.form not in (
            select w.word
            from drug_word as w
            where w.kind = 'too_short'
        )
),

alias as (
    select
        plain_name(name) as form,
        plain_name(means) as means,
        100 + row_number() over (partition by name order by means) as part
    from drug_alias
),

-- A shorthand, a second official name, and the other number stand beside the form they belong to, and after it.
renamed as (
    select
        code,
        form,
        rank,
        part,
        nuance
    from form
    union all
    select
        f.code,
        a.means as form,
        f.rank + if(f.part = 0, 0.1, 0.0) as rank,
        if(f.part = 0, a.part, f.part) as part,
        f.nuance + if(f.part = 0, 0.0, 0.1) as nuance
    from form as f
    inner join alias as a on f.form = a.form
    union all
    select
        code,
        if(form like '%s', left(form, -1), form || 's') as form,
        rank + if(part = 0, 0.2, 0.0) as rank,
        part,
        nuance + if(part = 0, 0.0, 0.2) as nuance
    from form
    where length(form) > 4
)

select distinct
    code,
    form,
    array_to_string(list_sort(string_split(form, ' ')), ' ') as sorted_form,
    rank,
    part,
    nuance
from renamed
where length(form) > 1;
